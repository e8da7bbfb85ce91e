"""Local means, variances and structure of two images: the common base of SSIM and MS-SSIM.

Written in the difference d = y − x, which is equivalent to the covariance and more accurate in float32:

    contrast·structure = 1 − var(d) / (var(x) + var(y) + C₂)
    luminance          = 1 − mean(d)² / (mean(x)² + mean(y)² + C₁)

Three Gaussian blurs (d, d², y²) per pair; the reference's own means and variances are cached. The image is
processed in bands that fit the CPU's cache.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Frame, Plane
from convergebench.images.pair_cache import per_pair
from convergebench.metrics._planes import CENTRE, pyramid

WINDOW = 11
SIGMA = 1.5
C1 = (0.01 * 255) ** 2
C2 = (0.03 * 255) ** 2

_EDGE = WINDOW // 2
_BAND = 112
_KERNEL = cv2.getGaussianKernel(WINDOW, SIGMA, cv2.CV_32F)

Channels = tuple[float, float, float]


class Structure(NamedTuple):
    """Means over the image, for R, G and B: of contrast·structure, and of that times luminance (SSIM)."""

    contrast: Channels
    ssim: Channels


class _Local(NamedTuple):
    """Of the reference, where the whole window fits: mean − 128, variance + C₂ and mean² + C₁."""

    mean: Plane
    variance: Plane
    brightness: Plane

    def rows(self, band: slice) -> _Local:
        return _Local(self.mean[band], self.variance[band], self.brightness[band])


def contrast(subject: Frame, reference: Frame, level: int) -> Channels:
    """Mean contrast·structure at a level of the pyramid; cheaper than `structure`."""
    key = ("contrast", level)
    return per_pair(subject, reference, key, lambda: _over_bands(subject, reference, level, luminance=False)).contrast


def structure(subject: Frame, reference: Frame, level: int = 0) -> Structure:
    """Structure at a level of the pyramid, over the area where the whole window fits."""
    key = ("structure", level)
    return per_pair(subject, reference, key, lambda: _over_bands(subject, reference, level, luminance=True))


def _blur(plane: Plane, into: Plane | None = None) -> Plane:
    blurred: Plane = cv2.sepFilter2D(plane, -1, _KERNEL, _KERNEL, dst=into)  # type: ignore[assignment]
    return blurred


def _valid(plane: Plane) -> Plane:
    return plane[_EDGE:-_EDGE, _EDGE:-_EDGE]


def _local(frame: Frame, level: int) -> _Local:
    plane = pyramid(frame, level)
    mean = np.ascontiguousarray(_valid(_blur(plane)))
    variance = _valid(_blur(plane * plane)) - mean * mean
    return _Local(mean, variance + np.float32(C2), np.square(mean + np.float32(CENTRE)) + np.float32(C1))


def _over_bands(subject: Frame, reference: Frame, level: int, *, luminance: bool) -> Structure:
    x, y = pyramid(reference, level), pyramid(subject, level)
    local = reference.derived(("local", level), lambda frame: _local(frame, level))
    rows, columns = local.mean.shape[:2]
    work = np.empty((4, _BAND + 2 * _EDGE, *x.shape[1:]), dtype=np.float32)
    tight = np.empty((2, _BAND, columns, 3), dtype=np.float32)
    lost_contrast, lost_ssim = np.zeros(3), np.zeros(3)
    for top in range(0, rows, _BAND):
        height = min(_BAND, rows - top)
        outer, inner = slice(top, top + height + 2 * _EDGE), local.rows(slice(top, top + height))
        lost, shift, dark = _contrast(
            x[outer], y[outer], inner, work=work[:, : height + 2 * _EDGE], tight=tight[:, :height]
        )
        lost_contrast += _sums(lost)
        if luminance:
            lost_ssim += _sums(_with_luminance(lost, inner, shift=shift, dark=dark))
    count = rows * columns
    return Structure(_channels(1 - lost_contrast / count), _channels(1 - lost_ssim / count))


def _contrast(x: Plane, y: Plane, local: _Local, *, work: Plane, tight: Plane) -> tuple[Plane, Plane, Plane]:
    """1 − contrast·structure; the subject's mean; the squared shift of means. All live in the buffers given."""
    difference, blurred, square, spread = work
    lost, dark = tight
    np.subtract(y, x, out=difference)
    shift = _valid(_blur(difference, blurred))
    np.multiply(difference, difference, out=difference)
    np.subtract(_valid(_blur(difference, square)), np.multiply(shift, shift, out=dark), out=lost)
    np.multiply(y, y, out=difference)
    variances = _valid(_blur(difference, spread))
    mean = np.add(shift, local.mean, out=shift)
    np.subtract(variances, np.multiply(mean, mean, out=_valid(difference)), out=variances)
    np.add(variances, local.variance, out=variances)
    np.divide(lost, variances, out=lost)
    return lost, mean, dark


def _with_luminance(lost: Plane, local: _Local, *, shift: Plane, dark: Plane) -> Plane:
    """1 − SSIM from 1 − contrast·structure, since 1 − (1 − a)(1 − b) = a + b·(1 − a)."""
    np.add(shift, np.float32(CENTRE), out=shift)
    np.multiply(shift, shift, out=shift)
    np.add(shift, local.brightness, out=shift)
    np.divide(dark, shift, out=dark)
    np.multiply(dark, np.subtract(np.float32(1), lost, out=shift), out=dark)
    return np.add(lost, dark, out=lost)


def _sums(plane: Plane) -> NDArray[np.float64]:
    return np.array(cv2.sumElems(plane)[:3])


def _channels(values: NDArray[np.float64]) -> Channels:
    red, green, blue = values.tolist()
    return red, green, blue
