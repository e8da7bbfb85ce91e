"""Simplification: in places, colours merge and gradients collapse to flat patches, while the layout stays.

For example, an iris of four colours becomes two, or a shaded cheek one tone. How: both pictures at 512 pixels,
smoothed (texture and noise are other failures), in CIELAB, with the step's colours brought to the source's mean and
spread (so are casts and fading). In every 32-pixel window, half a window
apart, colours are counted: steps of 3 in L*, a* and b*, as the exponential of the entropy, so that a colour counts by
its area, and as the mean over two offsets of the steps. A window of the source with 5 colours or more has something
to lose; it has lost it when fewer than 0.6 of them are left.

The threshold: 4 % of the windows that had something to lose, and 1 % of the picture in one patch, since chance leaves
single windows here and there. The layout stays while coarse brightness (32 pixels) correlates by 0.8 with the source's.

Cannot see: places under about 1 % of the picture (a pair of eyes in a group), colours exchanged for as many others,
detail finer than about 5 pixels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from convergebench.failures._aligned_pair import AlignedPair, Tile, aligned_to_source, reduced
from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures.base import ChainView, Examination, detector
from convergebench.images.frame import Frame, Plane

SHARE, PATCH = 0.04, 0.01
"""Share of the rich windows that must have lost their colours, and of the picture that one patch of them must cover."""
LEFT, RICH = 0.6, 5.0
"""Share of its colours under which a window is simplified, and the colours it must have had."""
FEWEST = 8
"""Fewest rich windows for a measurement."""
LAYOUT, COARSE = 0.8, 32
"""Correlation of coarse brightness that must stay, and its longer side."""
LONGEST, WINDOW, STEP = 512, 32, 3.0
SMOOTHED = 2.0
FAINTEST, STRONGEST = 0.5, 4.0
"""Bounds of what the step's spread of colours is multiplied by."""
THINNED = 2
"""Every second pixel is enough after smoothing."""


class _Lost(NamedTuple):
    share: float
    patch: float
    layout: float
    box: Tile
    score: float


@detector(
    "simplification",
    level="sub-object",
    title="Simplification",
    rule=(
        "4 % of the source's colourful windows keep fewer than 0.6 of their colours, 1 % of the picture in one patch, "
        "while the layout stays, for three steps in a row"
    ),
    paper="simplification bias",
)
def simplification(chain: ChainView) -> Examination:
    """Colours fall together and gradients collapse in places."""

    def measure(index: int) -> StepScore | None:
        pair = aligned_to_source(chain, index)
        lost = None if pair is None else _lost(pair)
        if pair is None or lost is None:
            return None
        return StepScore(
            lost.score,
            {"simplified": lost.share, "patch": lost.patch, "layout": lost.layout},
            f"{lost.share:.0%} of the places with many colours have lost four tenths of them or more",
            pair.box(lost.box),
        )

    return find_onset(chain, measure)


def _lost(pair: AlignedPair) -> _Lost | None:
    before = pair.source.derived("simple", _smooth)
    after = _smooth(pair.step)
    was = pair.source.derived("colours", lambda one: _colours(_smooth(one)))
    now = _colours(_colour_matched(after, before))
    rich = was >= RICH
    if pair.changed is not None:
        rich &= _windows_free(pair.untouched(), before.shape[:2])
    if rich.sum() < FEWEST:
        return None
    poor = rich & (now < LEFT * was)
    share = float(poor.sum() / rich.sum())
    patch, box = _largest(poor, pair)
    layout = _layout(after, before)
    score = min(share / SHARE, patch / PATCH) if layout >= LAYOUT else 0.0
    return _Lost(share, patch, layout, box, score)


def _smooth(frame: Frame) -> Plane:
    """CIELAB at every second pixel, without texture."""
    clear = cv2.medianBlur(np.ascontiguousarray(reduced(frame, LONGEST)), 5).astype(np.float32) / np.float32(255)
    lab = cv2.cvtColor(np.asarray(cv2.GaussianBlur(clear, (0, 0), SMOOTHED), np.float32), cv2.COLOR_RGB2LAB)
    return np.ascontiguousarray(lab[::THINNED, ::THINNED], np.float32)


def _colour_matched(lab: Plane, to: Plane) -> Plane:
    """Colours with the other picture's mean and spread, channel by channel."""
    own, other = lab.reshape(-1, 3), to.reshape(-1, 3)
    gain = np.clip(other.std(axis=0) / np.maximum(own.std(axis=0), 1e-3), FAINTEST, STRONGEST)
    return np.asarray((lab - own.mean(axis=0)) * gain + other.mean(axis=0), np.float32)


def _windows(plane: NDArray[Any]) -> NDArray[Any]:
    """Windows, half a window apart: rows × columns × side × side."""
    side = min(WINDOW // THINNED, *plane.shape)
    return sliding_window_view(plane, (side, side))[:: side // 2, :: side // 2]


def _colours(lab: Plane) -> Plane:
    """How many colours every window has, by area."""
    entropy = np.zeros(1)
    for offset in (0.0, STEP / 2):
        steps = np.floor((lab + np.float32(offset)) / np.float32(STEP)).astype(np.int32) + 128
        windows = _windows((steps[..., 0] * 512 + steps[..., 1]) * 512 + steps[..., 2])
        rows, columns = windows.shape[:2]
        ordered = np.sort(windows.reshape(rows * columns, -1), axis=1)
        ends = np.ones((ordered.shape[0], ordered.shape[1] + 1), dtype=np.bool_)
        ends[:, 1:-1] = ordered[:, 1:] != ordered[:, :-1]
        window, place = np.nonzero(ends)
        within = np.diff(window) == 0
        areas = np.diff(place)[within] / ordered.shape[1]
        parts = np.bincount(window[:-1][within], -areas * np.log(areas), minlength=rows * columns)
        entropy = entropy + parts.reshape(rows, columns) / 2
    return np.asarray(np.exp(entropy), np.float32)


def _windows_free(free: NDArray[np.bool_], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    fitting = cv2.resize(free.astype(np.uint8), (shape[1], shape[0]), interpolation=cv2.INTER_NEAREST)
    return np.asarray(_windows(fitting).all(axis=(-2, -1)), np.bool_)


def _largest(poor: NDArray[np.bool_], pair: AlignedPair) -> tuple[float, Tile]:
    """Share of the picture that the largest patch covers, and the square around it."""
    count, _, facts, _ = cv2.connectedComponentsWithStats(poor.astype(np.uint8), connectivity=8)
    factor = max(1.0, max(pair.source.size) / LONGEST)
    stride = WINDOW // 2 * factor
    if count < 2:
        return 0.0, Tile(0, 0, round(2 * stride))
    best = 1 + int(facts[1:, cv2.CC_STAT_AREA].argmax())
    left, top, wide, tall, area = (int(each) for each in facts[best])
    side = round((max(wide, tall) + 1) * stride)
    return area / poor.size, Tile(round(top * stride), round(left * stride), side)


def _layout(after: Plane, before: Plane) -> float:
    """Correlation of coarse brightness."""
    small = [_coarse(each[..., 0]) for each in (after, before)]
    if min(float(each.std()) for each in small) < 1e-3:
        return 0.0
    return float(np.corrcoef(small[0].ravel(), small[1].ravel())[0, 1])


def _coarse(plane: Plane) -> Plane:
    factor = COARSE / max(plane.shape)
    size = max(2, round(plane.shape[1] * factor)), max(2, round(plane.shape[0] * factor))
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA), np.float32)
