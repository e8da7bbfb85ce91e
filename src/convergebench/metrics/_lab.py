"""CIELAB of an sRGB image (D65, 2° observer), exact to float32."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.images.frame import Frame, Plane

_WHITE = np.array([0.95047, 1.0, 1.08883])
_TO_XYZ = np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])
_MATRIX = (_TO_XYZ / _WHITE[:, None]).astype(np.float32)
_ROWS = (
    np.array([[0, 116, 0, -16]], dtype=np.float32),
    np.array([[500, -500, 0, 0]], dtype=np.float32),
    np.array([[0, 200, -200, 0]], dtype=np.float32),
)
_KNEE = np.float32(0.008856)


def _linear_light() -> Plane:
    encoded = np.arange(256) / 255
    linear = np.where(encoded > 0.04045, ((encoded + 0.055) / 1.055) ** 2.4, encoded / 12.92)
    return linear.astype(np.float32)


LINEAR = _linear_light()
"""Linear light of each of the 256 values of sRGB."""


class Lab(NamedTuple):
    """L* (0…100), a* (green to red) and b* (blue to yellow), each height × width."""

    lightness: Plane
    a: Plane
    b: Plane


def lab(frame: Frame) -> Lab:
    """The image in CIELAB; cached."""
    return frame.derived("lab", _lab)


def _lab(frame: Frame) -> Lab:
    share = cv2.transform(cv2.LUT(frame.pixels, LINEAR), _MATRIX)
    dark = share <= _KNEE
    root = np.cbrt(share)
    if dark.any():
        root[dark] = share[dark] * np.float32(7.787) + np.float32(16 / 116)
    return Lab(*(cv2.transform(root, row) for row in _ROWS))  # type: ignore[arg-type]


class MeanLab(NamedTuple):
    """Means over an image of a*, b* and chroma."""

    a: float
    b: float
    chroma: float


def mean_lab(frame: Frame) -> MeanLab:
    """Mean a*, b* and chroma; cached."""
    return frame.derived("mean-lab", _mean_lab)


def _mean_lab(frame: Frame) -> MeanLab:
    _, a, b = lab(frame)
    chroma = np.sqrt(a * a + b * b)
    return MeanLab(*(float(plane.mean(dtype=np.float64)) for plane in (a, b, chroma)))
