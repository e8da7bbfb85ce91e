"""Small grey versions of two images, and the affine map between them."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Plane

COARSE, FINE = 128, 192
"""Longer side, in pixels, of the small versions."""
SURROUNDINGS = 24
"""Longer side over the standard deviation of the blur that is subtracted as surroundings."""

_SLOPE, _POINT = np.array([-0.5, 0, 0.5], dtype=np.float32), np.ones(1, dtype=np.float32)


class Small(NamedTuple):
    """Grey minus its surroundings, its gradients, and the size of the original image."""

    grey: Plane
    across: Plane
    down: Plane
    width: float
    height: float

    @property
    def factors(self) -> tuple[float, float]:
        """Small pixels per full pixel along x and y."""
        return self.grey.shape[1] / self.width, self.grey.shape[0] / self.height


class ScaleShift(NamedTuple):
    """Reference pixels per subject pixel along each axis, and the centre's offset in reference pixels."""

    step_x: float
    step_y: float
    x: float = 0.0
    y: float = 0.0


def small(frame: Frame, longest: int) -> Small:
    """The small version with that longer side (or the image's own, if shorter); cached."""
    return frame.derived(("small", longest), lambda frame: _make_small(frame, longest))


def _reduced(frame: Frame, longest: int) -> tuple[int, int]:
    factor = min(1.0, longest / max(frame.size))
    return max(8, round(frame.width * factor)), max(8, round(frame.height * factor))


def _grey(frame: Frame) -> Plane:
    grey = cv2.cvtColor(frame.pixels, cv2.COLOR_RGB2GRAY)
    return cv2.resize(grey, _reduced(frame, FINE), interpolation=cv2.INTER_AREA).astype(np.float32)


def _make_small(frame: Frame, longest: int) -> Small:
    grey = frame.derived("small-grey", _grey)
    if longest < FINE:
        grey = np.asarray(cv2.resize(grey, _reduced(frame, longest), interpolation=cv2.INTER_AREA), np.float32)
    near = cv2.GaussianBlur(grey, (0, 0), 0.8)
    # broad shading correlates with anything; only local contrast locates things
    soft = np.asarray(near - cv2.GaussianBlur(near, (0, 0), max(grey.shape) / SURROUNDINGS), np.float32)
    if float(soft.std()) < 0.25:
        raise Unmeasurable("featureless", f"{frame.width}×{frame.height}, nearly one grey")
    across, down = cv2.sepFilter2D(soft, -1, _SLOPE, _POINT), cv2.sepFilter2D(soft, -1, _POINT, _SLOPE)
    return Small(soft, across, down, frame.width, frame.height)  # type: ignore[arg-type]


def to_reference(subject: Small, reference: Small, view: ScaleShift) -> NDArray[np.float64]:
    """The affine map from a small subject's pixels to a small reference's."""
    (sx, sy), (rx, ry) = subject.factors, reference.factors
    ax, ay = rx / sx * view.step_x, ry / sy * view.step_y
    bx = rx * (reference.width / 2 + view.x) - ax * subject.grey.shape[1] / 2
    by = ry * (reference.height / 2 + view.y) - ay * subject.grey.shape[0] / 2
    # OpenCV counts from pixel centres, the above from corners
    return np.array([[ax, 0, bx + 0.5 * (ax - 1)], [0, ay, by + 0.5 * (ay - 1)]])


def warp(plane: Plane, matrix: NDArray[np.float64], like: Plane) -> Plane:
    """The plane as seen through the map, on the grid of `like`; beyond the edge its last row or column repeats."""
    size = like.shape[1], like.shape[0]
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    warped = cv2.warpAffine(plane, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return warped  # type: ignore[return-value]


def inside(matrix: NDArray[np.float64], subject: Small, reference: Small) -> tuple[slice, slice]:
    """Rows and columns of the small subject that map into the reference."""
    slices = []
    for axis in (1, 0):
        step, start = matrix[axis, axis], matrix[axis, 2]
        length, limit = subject.grey.shape[1 - axis], reference.grey.shape[1 - axis] - 1
        first, last = np.ceil(-start / step), np.floor((limit - start) / step)
        slices.append(slice(int(np.clip(first, 0, length)), int(np.clip(last + 1, 0, length))))
    return slices[0], slices[1]
