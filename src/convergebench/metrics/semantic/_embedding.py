"""Images as unit vectors: computed in batches, cached per image and device, and compared by their cosine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics.base import Item
from convergebench.metrics.place import here

Vector = NDArray[np.float64]
Embed = Callable[[Sequence[Frame]], Sequence[Vector]]

SMALLEST = 16
"""Shorter side, in pixels, under which there is nothing to recognise: the networks would see enlarged blur."""


def similarities(
    items: Sequence[Item], key: str, embed: Embed, *, slenderest: float = inf
) -> list[float | Unmeasurable]:
    """Cosine of subject and reference per item; `embed` is called once for the images without a cached vector."""
    problems = [problem(item) or _too_slender(item, slenderest) for item in items]
    complete = [item for item, missing in zip(items, problems, strict=True) if missing is None]
    references = [item.reference for item in complete if item.reference is not None]
    vectors = embedded([*references, *(item.subject for item in complete)], key, embed)
    values: list[float | Unmeasurable] = []
    for item, missing in zip(items, problems, strict=True):
        if missing is not None or item.reference is None:
            values.append(missing or Unmeasurable("no-reference"))
        else:
            values.append(cosine(vectors[id(item.subject)], vectors[id(item.reference)]))
    return values


def problem(item: Item) -> Unmeasurable | None:
    """Why subject and reference cannot be compared; None if they can."""
    if item.reference is None:
        return Unmeasurable("no-reference", "there is no image to compare with")
    return next(filter(None, (too_small(frame) for frame in (item.subject, item.reference))), None)


def _too_slender(item: Item, slenderest: float) -> Unmeasurable | None:
    for width, height in (frame.size for frame in (item.subject, item.reference) if frame is not None):
        if max(width, height) > slenderest * min(width, height):
            return Unmeasurable("too-slender", f"{width}×{height} is over {slenderest} times as long as wide")
    return None


def too_small(frame: Frame) -> Unmeasurable | None:
    """Why an image cannot be embedded; None if it can."""
    if min(frame.size) < SMALLEST:
        width, height = frame.size
        return Unmeasurable("too-small", f"{width}×{height} has a side shorter than {SMALLEST} pixels")
    return None


def embedded(frames: Sequence[Frame], key: str, embed: Embed) -> dict[int, Vector]:
    """The unit vector of each frame, by `id(frame)`; cached on the frame."""
    slots: dict[int, list[Vector]] = {}
    missing_frames: dict[int, Frame] = {}
    for frame in frames:
        slots[id(frame)] = frame.derived(("embedding", key, here()), lambda _: [])
        if not slots[id(frame)]:
            missing_frames[id(frame)] = frame
    if missing_frames:
        for number, vector in zip(missing_frames, embed(list(missing_frames.values())), strict=True):
            slots[number].append(unit(vector))
    return {number: slot[0] for number, slot in slots.items()}


def unit(vector: NDArray[Any]) -> Vector:
    """The vector at length 1."""
    double = vector.astype(np.float64)
    return np.asarray(double / np.linalg.norm(double), np.float64)


def cosine(x: Vector, y: Vector) -> float:
    """Cosine of unit vectors, in a form that gives exactly 1 for equal ones and never more."""
    return 1 - float(np.square(x - y).sum()) / 2
