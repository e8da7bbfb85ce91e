"""Power spectra of small squares of a picture, scaled so that white noise of deviation σ has power σ²."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import fft

from convergebench.images.frame import Pixels, Plane

_PLANES = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]], dtype=np.float32)
"""Luma and the two colour differences of JPEG."""


def to_planes(parts: Pixels, *, colour: bool = False) -> Plane:
    """Luma, or luma and two colour differences, of tiles × side × side × 3 as tiles × planes × side × side."""
    rows = _PLANES if colour else _PLANES[:1]
    return np.ascontiguousarray(np.moveaxis(parts.astype(np.float32) @ rows.T, -1, 1))


def soft(planes: Plane, sigma: float) -> Plane:
    """Each plane blurred separately."""
    flat = planes.reshape(-1, *planes.shape[-2:])
    return np.stack([cv2.GaussianBlur(each, (0, 0), sigma) for each in flat]).reshape(planes.shape).astype(np.float32)


def power(planes: Plane) -> Plane:
    """Power over the half plane of frequencies, without the mean, under a Hann window."""
    side = planes.shape[-1]
    window = _window(side)
    waves = fft.rfft2((planes - planes.mean(axis=(-2, -1), keepdims=True)) * window)
    return np.asarray((waves.real**2 + waves.imag**2) / np.square(window).sum(), np.float32)


@lru_cache(maxsize=8)
def _window(side: int) -> Plane:
    return np.asarray(cv2.createHanningWindow((side, side), cv2.CV_32F), np.float32)


@lru_cache(maxsize=8)
def frequencies(side: int) -> tuple[Plane, Plane]:
    """Cycles per pixel, vertical and horizontal, for every entry of `power`."""
    down, across = np.meshgrid(np.fft.fftfreq(side), np.fft.rfftfreq(side), indexing="ij")
    return down.astype(np.float32), across.astype(np.float32)


@lru_cache(maxsize=16)
def ring(side: int, low: float, high: float) -> NDArray[np.bool_]:
    """Mask of `power` for frequencies between two radii."""
    radius = np.hypot(*frequencies(side))
    return np.asarray((radius >= low) & (radius < high), np.bool_)


@lru_cache(maxsize=8)
def blurred_share(side: int, sigma: float) -> Plane:
    """Share of the amplitude that a Gaussian blur leaves, for every entry of `power`; at most 0.97."""
    radius = np.hypot(*frequencies(side))
    return np.asarray(np.minimum(0.97, np.exp(-2 * np.square(np.pi * radius * sigma))), np.float32)
