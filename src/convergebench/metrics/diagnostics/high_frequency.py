"""How much of an image is fine detail: share of spectral energy above a quarter of the sampling rate.

Luma without its mean, cut to a size that transforms fast, under a Hann window (so that the seam between opposite edges
does not count), Fourier transformed; energy at radii above 0.25 cycles per pixel over all energy.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from scipy import fft

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Plane
from convergebench.metrics._planes import luma
from convergebench.metrics.base import Item, metric
from convergebench.metrics.diagnostics._step import STEP

CUTOFF = 0.25
"""Cycles per pixel; the finest grid of lines has 0.5."""
SMALLEST = 16


@metric(
    "high-frequency",
    kind="diagnostic",
    better="neither",
    range=(0.0, 1.0),
    roles=STEP,
    aligned=False,
)
def high_frequency(item: Item) -> float:
    """Share of luma's spectral energy above 0.25 cycles per pixel: falls with blur, rises with noise."""
    return item.subject.derived("high-frequency", _share)


def _share(frame: Frame) -> float:
    if min(frame.size) < SMALLEST:
        raise Unmeasurable("too-small", f"{frame.width}×{frame.height} has a side shorter than {SMALLEST} pixels")
    width, height = _fast(frame.width), _fast(frame.height)
    left, top = (frame.width - width) // 2, (frame.height - height) // 2
    plane = luma(frame)[top : top + height, left : left + width]
    window, outer, doubled = _masks(width, height)
    weighted = (plane - plane.mean()) * window
    spectrum = fft.rfft2(weighted)
    energy = spectrum.real**2
    energy += spectrum.imag**2
    energy *= doubled
    total = float(energy.sum(dtype=np.float64))
    if total <= 1e-6 * energy.size:
        raise Unmeasurable("featureless", "an image of one grey has no spectrum")
    return float((energy * outer).sum(dtype=np.float64)) / total


def _fast(length: int) -> int:
    """The largest length up to `length` that has no prime factor above 7."""
    while fft.next_fast_len(length, real=True) != length:
        length -= 1
    return length


@lru_cache(maxsize=4)  # each is as large as an image, and sizes may vary
def _masks(width: int, height: int) -> tuple[Plane, Plane, Plane]:
    window = cv2.createHanningWindow((width, height), cv2.CV_32F)
    x, y = np.fft.rfftfreq(width)[None, :], np.fft.fftfreq(height)[:, None]
    outer = (np.hypot(x, y) > CUTOFF).astype(np.float32)
    # a real transform keeps half the plane: every column but the first and the middle one counts twice
    doubled = np.full((1, x.size), 2, dtype=np.float32)
    doubled[0, 0] = 1
    if width % 2 == 0:
        doubled[0, -1] = 1
    return window, outer, doubled  # type: ignore[return-value]
