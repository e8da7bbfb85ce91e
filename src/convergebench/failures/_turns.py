"""How a step mirrored or rotated its picture: the best match among the eight possible transforms."""

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

TRANSFORMS: Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "left as it was": lambda pixels: pixels,
    **{str(name): turn for name, turn in GEOMETRIC.items()},
    "mirrored about a diagonal": lambda pixels: pixels.swapaxes(0, 1),
    "mirrored about the other diagonal": lambda pixels: pixels[::-1, ::-1].swapaxes(0, 1),
}
"""The eight transforms that mirroring and quarter turns can produce, by name."""
TOO_DIFFERENT = 0.35
"""Correlation that the best transform must reach; below it the picture is too different to decide."""
CLEAR, APART = 0.75, 0.3
"""Correlation of the best transform, and its lead, at which a comparison without registration is enough."""
SMALL = 128
"""Longer side of the small versions, in pixels."""
SAME = 0.97
"""Correlation at which a picture and its transform count as the same."""


class StepTurn(NamedTuple):
    """The result of a step that was requested to mirror or rotate."""

    step: int
    requested: str
    best: str
    """The transform that matches best."""
    share: float
    """How much closer the requested transform is than any other: 1 exactly done, ½ undecided, 0 another was done."""
    unclear: str = ""
    """Why the result is open; `share` is then meaningless."""

    @property
    def failed(self) -> bool:
        """Another transform matches better than the requested one."""
        return not self.unclear and self.share < 0.5


def turns(chain: ChainView) -> list[StepTurn]:
    """Every step that was requested to mirror or rotate, in order; cached on the chain."""
    memory: dict[str, list[StepTurn]] = vars(chain).setdefault("_turns_cache", {})
    if "found" not in memory:
        memory["found"] = [
            _turn(step.index, str(step.operation), chain.frame(step.index), chain.frame(step.parent))
            for step in chain.asks_for(*GEOMETRIC)
        ]
    return memory["found"]


def _turn(step: int, requested: str, after: Frame, before: Frame) -> StepTurn:
    alike = _fitted(TRANSFORMS[requested](_outlines(before)), _outlines(before))
    if alike >= SAME:
        return StepTurn(step, requested, requested, 0.5, f"the picture and its {requested} look the same")
    found = _agreement(after, before)
    best = max(found, key=found.__getitem__)
    if found[best] < TOO_DIFFERENT:
        return StepTurn(
            step, requested, best, 0.5, f"the picture is too far from what it was made of (r {found[best]:.2f})"
        )
    other = max(value for name, value in found.items() if name != requested)
    away, other_away = 1 - found[requested], 1 - other
    return StepTurn(step, requested, best, float(np.clip(other_away / max(1e-6, away + other_away), 0, 1)))


def _agreement(after: Frame, before: Frame) -> dict[str, float]:
    """Correlation of the picture with each transform of the one before."""
    known, seen = _outlines(before), _outlines(after)
    found = {name: max(0.0, _fitted(seen, np.asarray(turn(known), np.float32))) for name, turn in TRANSFORMS.items()}
    first, second = sorted(found.values(), reverse=True)[:2]
    if first >= CLEAR and first - second >= APART:
        return found
    # cropped, zoomed, or rotated on an unrotated canvas: each transform has to be registered, which is slow
    versions = {name: Frame(np.ascontiguousarray(turn(before.pixels))) for name, turn in TRANSFORMS.items()}
    return {name: max(found[name], _registered(after, version)) for name, version in versions.items()}


def _outlines(frame: Frame) -> Plane:
    """A small grey version without broad shading, which correlates with anything."""
    return frame.derived("turn-outlines", _make_outlines)


def _make_outlines(frame: Frame) -> Plane:
    grey = cv2.cvtColor(frame.pixels, cv2.COLOR_RGB2GRAY)
    factor = min(1.0, SMALL / max(frame.size))
    size = max(8, round(frame.width * factor)), max(8, round(frame.height * factor))
    small = cv2.GaussianBlur(cv2.resize(grey, size, interpolation=cv2.INTER_AREA).astype(np.float32), (0, 0), 0.8)
    return np.asarray(small - cv2.GaussianBlur(small, (0, 0), max(size) / 24), np.float32)


def _fitted(one: Plane, other: Plane) -> float:
    """Correlation after resizing to one size."""
    if one.shape != other.shape:
        size = one.shape[1], one.shape[0]
        other = np.asarray(cv2.resize(np.ascontiguousarray(other), size, interpolation=cv2.INTER_AREA), np.float32)
    x, y = one - one.mean(), other - other.mean()
    length = float(np.sqrt(np.square(x).sum() * np.square(y).sum()))
    return float((x * y).sum()) / length if length > 1e-6 else 0.0


def _registered(subject: Frame, reference: Frame) -> float:
    """Correlation after registration; 0 where a picture has no features."""
    try:
        return max(0.0, register(subject, reference).confidence)
    except Unmeasurable:
        return 0.0
