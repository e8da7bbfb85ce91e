"""Flips and quarter turns, exact to the pixel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.edits.geometry import Geometry

Plane = NDArray[np.uint8]

_TRANSFORMS: dict[Geometry, Callable[[Plane], Any]] = {
    "flip-horizontal": lambda plane: cv2.flip(plane, 1),
    "flip-vertical": lambda plane: cv2.flip(plane, 0),
    "rotate-90": lambda plane: cv2.rotate(plane, cv2.ROTATE_90_CLOCKWISE),
    "rotate-180": lambda plane: cv2.rotate(plane, cv2.ROTATE_180),
    "rotate-270": lambda plane: cv2.rotate(plane, cv2.ROTATE_90_COUNTERCLOCKWISE),
}


def transform(plane: Plane, how: Geometry) -> Plane:
    """A flipped or rotated copy of the plane (`rotate-90` is clockwise)."""
    return np.ascontiguousarray(_TRANSFORMS[how](plane), dtype=np.uint8)
