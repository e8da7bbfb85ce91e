"""Point spread functions: what becomes of one point of light. Each sums to 1 and leaves the centre in place."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Plane

Path = NDArray[np.float64]
"""Points × 2: right and down, in pixels."""

_SUBPIXELS = 9
"""Samples per pixel and side when the edge of a disk is averaged."""
_POINTS_PER_PIXEL = 8
"""Samples along a path."""


def disk(radius: float) -> Plane:
    """The image of a point out of focus: an even disk, its edge averaged over each pixel."""
    reach = max(0, math.ceil(radius - 0.5))
    places = (np.arange((2 * reach + 1) * _SUBPIXELS) + 0.5) / _SUBPIXELS - reach - 0.5
    inside = (places[:, None] ** 2 + places[None, :] ** 2) <= radius**2
    side = 2 * reach + 1
    covered = inside.reshape(side, _SUBPIXELS, side, _SUBPIXELS).mean(axis=(1, 3))
    if not covered.any():  # a disk smaller than a sample: no blur
        covered[reach, reach] = 1
    return np.asarray(covered / covered.sum(), np.float32)


def line(length: float, angle: float) -> Plane:
    """The image of a point while the camera moves evenly by `length` pixels at `angle` (radians)."""
    return along(straight(length, angle))


def straight(length: float, angle: float) -> Path:
    """A path of even speed."""
    count = 2 + math.ceil(length * _POINTS_PER_PIXEL)
    steps = (np.arange(count) + 0.5) / count - 0.5
    return np.outer(length * steps, [math.cos(angle), math.sin(angle)])


def shaken(length: float, draw: np.random.Generator, *, curl: float = 1.0) -> Path:
    """The path of a hand-held camera: a heading that drifts, speeds that rise and fall, `length` pixels in all.

    The draws do not depend on the length, so that a longer path has the same shape. At `curl` 1 the heading turns by
    about 90 degrees in all.
    """
    count = 24
    turning = np.cumsum(draw.normal(0, 0.018, count)) + draw.normal(0, 0.045)
    heading = draw.uniform(0, 2 * math.pi) + curl * np.cumsum(turning)
    speed = np.exp(draw.normal(0, 0.5) * np.sin(np.linspace(0, math.pi, count)) + 0.25 * draw.normal(size=count))
    corners = np.cumsum(speed[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=1), axis=0)
    corners *= length / max(1e-9, float(np.hypot(*np.diff(corners, axis=0).T).sum()))
    samples = max(8 * count, math.ceil(length * _POINTS_PER_PIXEL))
    fine = np.linspace(0, count - 1, samples)  # even in time: slow parts weigh more
    return np.stack([np.interp(fine, np.arange(count), corners[:, axis]) for axis in (0, 1)], axis=1)


def along(path: Path) -> Plane:
    """The point spread function of a path: each of its points is shared among the four pixels around it."""
    centred = path - path.mean(axis=0)
    reach = int(np.ceil(np.abs(centred).max())) + 1
    side = 2 * reach + 1
    places = centred + reach
    whole = np.floor(places).astype(np.intp)
    share = places - whole
    total = np.zeros(side * side)
    for right in (0, 1):
        for down in (0, 1):
            weight = np.abs(1 - right - share[:, 0]) * np.abs(1 - down - share[:, 1])
            total += np.bincount((whole[:, 1] + down) * side + whole[:, 0] + right, weight, side * side)
    return np.asarray((total / total.sum()).reshape(side, side), np.float32)


def gaussian(sigma: float, across: float, angle: float) -> Plane:
    """A Gaussian with one width along `angle` and another across it."""
    reach = max(1, math.ceil(3 * max(sigma, across)))
    down, right = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    far = right * math.cos(angle) + down * math.sin(angle)
    beside = down * math.cos(angle) - right * math.sin(angle)
    weight = np.exp(-0.5 * ((far / max(sigma, 1e-3)) ** 2 + (beside / max(across, 1e-3)) ** 2))
    return np.asarray(weight / weight.sum(), np.float32)


def blurred(light: Plane, psf: Plane) -> Plane:
    """Light after the point spread function; beyond its border the picture is mirrored."""
    if psf.size == 1:
        return light
    turned = np.ascontiguousarray(psf[::-1, ::-1])  # OpenCV correlates
    return np.asarray(cv2.filter2D(light, -1, turned, borderType=cv2.BORDER_REFLECT), np.float32)


def softened(plane: Plane, sigma: float) -> Plane:
    """A plane after an even Gaussian; widths below a tenth of a pixel change nothing."""
    if sigma < 0.1:
        return plane
    return np.asarray(cv2.GaussianBlur(plane, (0, 0), sigma, borderType=cv2.BORDER_REFLECT), np.float32)
