"""Where a picture is worn: the metric `decay` in each part of it, as colours to be laid over the picture.

Dark parts look untouched, bright ones worn, in the colours of the other maps. Parts without texture cannot be judged:
they keep the picture's own colours under a hatching.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Pixels
from convergebench.report.palette import INFERNO

LOW, HIGH = 0.0, 100.0
"""Values of the first and the last colour; values beyond them have these colours."""
ENDS = ("as untouched", "worn")
"""What they mean."""
OPACITY = 166
"""Of the colours over the picture, of 255."""
HATCH = 220
"""Opacity of the hatching."""


class WornReading(NamedTuple):
    """What `decay` says of a picture and of its parts."""

    parts: NDArray[np.float32]
    """Rows × columns from top left; NaN where a part cannot be judged."""
    value: float
    words: str
    """`looks like about 4 remakings (95 %: 2–7)`."""

    @property
    def unknown(self) -> int:
        """Parts that cannot be judged."""
        return int(np.isnan(self.parts).sum())


def read_worn(frame: Frame) -> WornReading:
    """The reading of a picture; `Unmeasurable` if it cannot be judged. Takes seconds for a picture of 4K."""
    from convergebench.metrics.no_reference.decay_reading import decay_map, read_decay

    parts = decay_map(frame)
    if np.isnan(parts).all():
        raise Unmeasurable("featureless", "no part of it is large enough and has texture to judge")
    found = read_decay(frame)
    words = "number of remakings unknown" if found.words == "unknown" else f"looks like {found.words}"
    return WornReading(parts, found.value, words)


def draw_overlay(parts: NDArray[np.float32], width: int, height: int) -> NDArray[np.uint8]:
    """Colours with their opacity (height × width × 4, RGBA) for a picture of this size."""
    rows, columns = parts.shape
    small = np.zeros((rows, columns, 4), np.uint8)
    known = ~np.isnan(parts)
    small[known, :3] = _colours(parts[known])
    small[known, 3] = OPACITY
    down, across = _places(height, rows), _places(width, columns)
    drawn: NDArray[np.uint8] = small[down[:, None], across[None, :]]
    for row, column in np.argwhere(~known):
        _hatch(drawn, np.flatnonzero(down == row), np.flatnonzero(across == column))
    return drawn


def worn_picture(frame: Frame, parts: NDArray[np.float32], side: int) -> Pixels:
    """A small copy of the picture in grey under its colours, its long side at most `side` pixels, for pages."""
    scale = min(1.0, side / max(frame.size))
    size = (max(1, round(frame.width * scale)), max(1, round(frame.height * scale)))
    small = cv2.resize(frame.pixels, size, interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB).astype(np.float32)
    over = draw_overlay(parts, *size)
    share = over[:, :, 3:].astype(np.float32) / 255
    found: Pixels = (grey * (1 - share) + over[:, :, :3] * share).round().astype(np.uint8)
    return found


def _colours(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    stops = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in INFERNO], np.float64)
    places = (values - LOW) / (HIGH - LOW) * (len(stops) - 1)  # `interp` keeps to the first and the last
    mixed = np.stack([np.interp(places, np.arange(len(stops)), stops[:, one]) for one in range(3)], axis=-1)
    return mixed.round().astype(np.uint8)


def _places(length: int, parts: int) -> NDArray[np.intp]:
    """The part that each pixel of a side belongs to; cut where `decay_map` cuts."""
    edges = np.linspace(0, length, parts + 1).astype(int)
    return np.searchsorted(edges[1:], np.arange(length), side="right")


def _hatch(drawn: NDArray[np.uint8], down: NDArray[np.intp], across: NDArray[np.intp]) -> None:
    """White lines with black beside them, so that they are seen on any picture."""
    if not (down.size and across.size):
        return
    line = max(1, round(max(drawn.shape[:2]) / 600))
    phase = (down[:, None] + across[None, :]) % (12 * line)
    part = drawn[down[0] : down[-1] + 1, across[0] : across[-1] + 1]
    part[phase < line] = (255, 255, 255, HATCH)
    part[(phase >= line) & (phase < 2 * line)] = (0, 0, 0, HATCH)
