"""Which way a step mirrored or turned its picture: the way that explains it best, of all eight there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Unmeasurable
from convergebench.failures.base import ChainView
from convergebench.images.frame import Frame, Plane
from convergebench.images.registration import register
from convergebench.metrics.operations import GEOMETRIC

WAYS: Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "left as it was": lambda pixels: pixels,
    **{str(name): turn for name, turn in GEOMETRIC.items()},
    "mirrored about a diagonal": lambda pixels: pixels.swapaxes(0, 1),
    "mirrored about the other diagonal": lambda pixels: pixels[::-1, ::-1].swapaxes(0, 1),
}
"""Everything that can be done to a picture by mirroring and quarter turns."""
FAR = 0.35
"""Correlation that the best way must reach; below it the picture is another one, and which way it lies is moot."""
CLEAR, APART = 0.75, 0.3
"""Correlation of the best way, and its lead, from which on fitting sizes is enough to tell."""
SMALL = 128
"""Longer side of the small versions, in pixels."""
SAME = 0.97
"""Correlation from which on a picture and its mirror image cannot be told apart."""


class Turn(NamedTuple):
    """What a step did that was to mirror or turn."""

    step: int
    asked: str
    best: str
    """The way that explains the picture best."""
    share: float
    """How much nearer the asked way is than the best other one: 1 exactly done, ½ undecided, 0 something else done."""
    unclear: str = ""
    """Why nothing can be said; then `share` means nothing."""

    @property
    def failed(self) -> bool:
        """Some other way is nearer than the one asked for."""
        return not self.unclear and self.share < 0.5


def turns(chain: ChainView) -> list[Turn]:
    """Every step that was to mirror or turn, in order; worked out once per chain."""
    memory: dict[str, list[Turn]] = vars(chain).setdefault("_memory_of_turns", {})
    if "found" not in memory:
        memory["found"] = [
            _turn(step.index, str(step.operation), chain.frame(step.index), chain.frame(step.parent))
            for step in chain.asks_for(*GEOMETRIC)
        ]
    return memory["found"]


def _turn(step: int, asked: str, after: Frame, before: Frame) -> Turn:
    alike = _fitted(WAYS[asked](_outlines(before)), _outlines(before))
    if alike >= SAME:
        return Turn(step, asked, asked, 0.5, f"the picture and its {asked} look the same")
    found = _agreement(after, before)
    best = max(found, key=found.__getitem__)
    if found[best] < FAR:
        return Turn(step, asked, best, 0.5, f"the picture is too far from what it was made of (r {found[best]:.2f})")
    other = max(value for way, value in found.items() if way != asked)
    away, other_away = 1 - found[asked], 1 - other
    return Turn(step, asked, best, float(np.clip(other_away / max(1e-6, away + other_away), 0, 1)))


def _agreement(after: Frame, before: Frame) -> dict[str, float]:
    """Correlation of the picture with each way of turning the one before."""
    known, seen = _outlines(before), _outlines(after)
    found = {way: max(0.0, _fitted(seen, np.asarray(turn(known), np.float32))) for way, turn in WAYS.items()}
    first, second = sorted(found.values(), reverse=True)[:2]
    if first >= CLEAR and first - second >= APART:
        return found
    # cropped, zoomed, or turned on a canvas that was not: then each way has to be registered, which takes its time
    ways = {way: Frame(np.ascontiguousarray(turn(before.pixels))) for way, turn in WAYS.items()}
    return {way: max(found[way], _registered(after, version)) for way, version in ways.items()}


def _outlines(frame: Frame) -> Plane:
    """A small grey version less its broad shading, which would agree with anything."""
    return frame.derived("turn-outlines", _make_outlines)


def _make_outlines(frame: Frame) -> Plane:
    grey = cv2.cvtColor(frame.pixels, cv2.COLOR_RGB2GRAY)
    factor = min(1.0, SMALL / max(frame.size))
    size = max(8, round(frame.width * factor)), max(8, round(frame.height * factor))
    small = cv2.GaussianBlur(cv2.resize(grey, size, interpolation=cv2.INTER_AREA).astype(np.float32), (0, 0), 0.8)
    return np.asarray(small - cv2.GaussianBlur(small, (0, 0), max(size) / 24), np.float32)


def _fitted(one: Plane, other: Plane) -> float:
    """Correlation after fitting sizes."""
    if one.shape != other.shape:
        size = one.shape[1], one.shape[0]
        other = np.asarray(cv2.resize(np.ascontiguousarray(other), size, interpolation=cv2.INTER_AREA), np.float32)
    x, y = one - one.mean(), other - other.mean()
    length = float(np.sqrt(np.square(x).sum() * np.square(y).sum()))
    return float((x * y).sum()) / length if length > 1e-6 else 0.0


def _registered(subject: Frame, reference: Frame) -> float:
    """Correlation after laying one over the other as well as can be; 0 where there is nothing to go by."""
    try:
        return max(0.0, register(subject, reference).confidence)
    except Unmeasurable:
        return 0.0
