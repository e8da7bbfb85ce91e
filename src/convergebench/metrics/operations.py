"""The expected result of a geometric operation on an image."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from convergebench.images.frame import Frame, Pixels
from convergebench.types import Operation

GEOMETRIC: Mapping[Operation, Callable[[Pixels], Pixels]] = {
    "flip-horizontal": lambda pixels: pixels[:, ::-1],
    "flip-vertical": lambda pixels: pixels[::-1],
    "rotate-90": lambda pixels: np.rot90(pixels, -1),
    "rotate-180": lambda pixels: pixels[::-1, ::-1],
    "rotate-270": lambda pixels: np.rot90(pixels, 1),
}
"""Exact transforms; `rotate-90` is a quarter turn clockwise."""

INVERSE: Mapping[Operation, Operation] = {
    "flip-horizontal": "flip-horizontal",
    "flip-vertical": "flip-vertical",
    "rotate-90": "rotate-270",
    "rotate-180": "rotate-180",
    "rotate-270": "rotate-90",
}
"""The inverse of each."""


def is_geometric(operation: Operation | None) -> bool:
    """Whether the operation only moves pixels."""
    return operation in GEOMETRIC


def expected(reference: Frame, operation: Operation | None) -> Frame:
    """The image to compare a step with: its parent, transformed if the operation is geometric."""
    if operation is None or operation not in GEOMETRIC:
        return reference
    transform = GEOMETRIC[operation]
    return reference.derived(
        ("expected", operation), lambda frame: Frame(np.ascontiguousarray(transform(frame.pixels)), frame.id)
    )
