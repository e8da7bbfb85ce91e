"""What `decay` can say of a picture beyond its value: how many remakings it looks like, and where it is worn.

A remaking is one pass through a small image autoencoder, the part that most editing models share: "about 4 remakings"
says that pictures with this much wear had passed through such a network about four times. An editor that changes more
at each step gets there in fewer, a gentle one in more. The estimate supposes that half of all pictures are untouched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Frame
from convergebench.metrics.no_reference._decay_network import TILE
from convergebench.metrics.no_reference._decay_tiles import at_scale
from convergebench.metrics.no_reference.decay import scaled, shipped_network, shipped_numbers, wear


class DecayReading(NamedTuple):
    """The value of `decay`, and the number of remakings that pictures of that value had."""

    value: float
    remakings: float | None
    """None if the picture is unlike anything that the metric was tuned on."""
    low: float | None
    high: float | None
    """95 of 100 pictures of this value had between `low` and `high` remakings."""

    @property
    def words(self) -> str:
        """`about 4 remakings (95 %: 2–7)`, or `unknown`."""
        if self.remakings is None or self.low is None or self.high is None:
            return "unknown"
        most = f"{MOST} or more" if self.high >= MOST else f"{self.high:.0f}"
        between = most if self.low >= MOST else f"{self.low:.0f}–{most}"
        about = f"{MOST} or more" if round(self.remakings) >= MOST else f"about {self.remakings:.0f}"
        noun = "remaking" if round(self.remakings) == 1 else "remakings"
        return f"{about} {noun} (95 %: {between})"


MOST = 20
"""Remakings of the longest chains that it was tuned on."""
FLATTEST = 0.85
"""Share of exactly flat places in photographs, worn or not, is at most 0.79; in drawings it is 0.95 or more."""


def read_decay(frame: Frame) -> DecayReading:
    """The reading of one picture; raises `Unmeasurable` as the metric does."""
    found, numbers = wear(frame), shipped_numbers()
    value = scaled(found.raw)
    if found.flat > FLATTEST or strangeness(found.hidden) > float(numbers["strangest"]):
        return DecayReading(value, None, None, None)
    about, low, high = (float(np.interp(found.raw, numbers["grid"], numbers[key])) for key in ("about", "low", "high"))
    return DecayReading(value, about, low, high)


def strangeness(hidden: NDArray[np.float32]) -> float:
    """How far a picture lies from those that the metric was tuned on, in what the network sees of it."""
    numbers = shipped_numbers()
    apart = numbers["whitening"] @ (np.asarray(hidden, np.float64) - numbers["centre"])
    return float(np.sqrt(np.square(apart).mean()))


def decay_map(frame: Frame, tile: int = TILE) -> NDArray[np.float32]:
    """The metric's value of each tile, rows × columns from top left; NaN where a tile has no texture to judge.

    Tiles cover the picture evenly and are as near to `tile` pixels as that allows. Single tiles are judged less surely
    than whole pictures.
    """
    wear(frame)  # what cannot be judged as a whole has no map
    network, pixels = shipped_network(), at_scale(frame.pixels)
    shrunk = pixels.shape[0] / frame.pixels.shape[0]
    rows, columns = (max(1, round(side / (tile * shrunk))) for side in pixels.shape[:2])
    found = np.full((rows, columns), np.nan, np.float32)
    for row, column in np.ndindex(rows, columns):
        # at least as much as the metric needs of a whole picture, around the middle of the tile
        part = pixels[_window(pixels.shape[0], rows, row), _window(pixels.shape[1], columns, column)]
        if (part != part[:1, :1]).any():
            found[row, column] = scaled(network.wear(np.ascontiguousarray(part))[0])
    return found


def _window(length: int, count: int, place: int) -> slice:
    side = min(length, max(TILE, round(length / count)))
    start = round((place + 0.5) * length / count - side / 2)
    start = min(max(start, 0), length - side)
    return slice(start, start + side)
