"""Local means, variances and structure of two images: the common base of SSIM and MS-SSIM.

Written in the difference d = y − x, which is equivalent to the covariance and more accurate in float32:

    contrast·structure = s / (s + var(d))           with s = 2·var(x) + 2·cov(x, d) + C₂
    luminance          = 1 − mean(d)² / (mean(x)² + mean(y)² + C₁)

Three Gaussian blurs (d, d², x·d) per pair; what is the reference's alone is cached on it. docs/design/cpu-scoring.md
says what each part costs, and why the work is cut and ordered as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Frame, Plane
from convergebench.images.pair_cache import per_pair
from convergebench.metrics._planes import CENTRE, Planes, planes

WINDOW = 11
SIGMA = 1.5
C1 = (0.01 * 255) ** 2
C2 = (0.03 * 255) ** 2

_EDGE = WINDOW // 2
_BAND = 256
"""Rows of a plane that are worked on together, window included: their maps stay in the processor's cache."""
_STRIP = 512
"""Most columns that are blurred downwards at once: eleven rows of more do not fit the cache nearest to the core."""
_SMALL = 500_000
"""Most samples of a pair that are worked on in one go, all channels together: calls cost more than the work."""
_DOWN: Plane = cv2.getGaussianKernel(WINDOW, SIGMA, cv2.CV_32F).view(np.float32)
_ALONG = np.ascontiguousarray(_DOWN.T)
_TWICE_DOWN = 2 * _DOWN

Channels = tuple[float, float, float]


class Structure(NamedTuple):
    """Means over the image, for R, G and B: of contrast·structure, and of that times luminance (SSIM)."""

    contrast: Channels
    ssim: Channels


class _Local(NamedTuple):
    """Of the reference, at every pixel: 2·mean, 2·variance + C₂ and 2·mean² + C₁."""

    mean: Plane
    variance: Plane
    brightness: Plane


class _Band(NamedTuple):
    """Rows of some channels. The first and last columns, where the window does not fit, are filled but meaningless."""

    channels: slice
    top: int
    contrast: Plane
    square: Plane
    """Square of the mean of d."""
    cross: Plane
    """2 · mean of x · mean of d."""
    brightness: Plane


def contrast(subject: Frame, reference: Frame, level: int) -> Channels:
    """Mean contrast·structure at a level of the pyramid; cheaper than `structure`."""
    return per_pair(subject, reference, ("contrast", level), lambda: _means(subject, reference, level).contrast)


def structure(subject: Frame, reference: Frame, level: int = 0) -> Structure:
    """Structure at a level of the pyramid, over the area where the whole window fits."""
    key = ("structure", level)
    return per_pair(subject, reference, key, lambda: _means(subject, reference, level, luminance=True))


def ssim_plane(subject: Frame, reference: Frame) -> Plane:
    """SSIM where the whole window fits, mean over R, G and B; computed in bands, like its mean."""
    found = np.zeros((subject.height - WINDOW + 1, subject.width - WINDOW + 1), dtype=np.float32)
    for band in _bands(subject, reference, 0):
        kept = _fitting(np.subtract(band.contrast, _darkened(band)))
        found[band.top : band.top + kept.shape[1]] += kept.sum(axis=0)
    return np.divide(found, np.float32(3), out=found)


def _means(subject: Frame, reference: Frame, level: int, *, luminance: bool = False) -> Structure:
    contrasts, darkened = np.zeros(3), np.zeros(3)
    for band in _bands(subject, reference, level):
        contrasts[band.channels] += _sums(band.contrast)
        if luminance:
            darkened[band.channels] += _sums(_darkened(band))
    _, height, width = planes(reference, level).shape
    count = (height - WINDOW + 1) * (width - WINDOW + 1)
    return Structure(_channels(contrasts / count), _channels((contrasts - darkened) / count))


def _channels(values: NDArray[np.float64]) -> Channels:
    # rounding may leave a mean above the 1 that bounds it
    red, green, blue = np.minimum(values, 1.0).tolist()
    return red, green, blue


def _fitting(maps: Plane) -> Plane:
    return maps[:, :, _EDGE:-_EDGE]


def _sums(maps: Plane) -> list[float]:
    return [cv2.sumElems(plane)[0] for plane in _fitting(maps)]


def _bands(subject: Frame, reference: Frame, level: int) -> Iterator[_Band]:
    """Bands of all channels from top to bottom. Each lives in buffers that the next one overwrites."""
    local = reference.derived(("local", level), lambda frame: _local(frame, level))
    x, y = planes(reference, level), planes(subject, level)
    _, height, width = x.shape
    rows = min(_BAND, height)
    together = 3 if 3 * height * width <= _SMALL else 1
    work = np.empty((5, together * rows * width), dtype=np.float32)
    for first in range(0, 3, together):
        channels = slice(first, first + together)
        for top in range(0, height - WINDOW + 1, rows - WINDOW + 1):
            outer = slice(top, top + rows)
            yield _band(x[channels, outer], y[channels, outer], local, work, channels=channels, top=top)


def _band(x: Planes, y: Planes, local: _Local, work: Plane, *, channels: slice, top: int) -> _Band:
    # whole rows, since numpy takes three times as long for parts of rows
    count, height, width = x.shape
    maps = work.reshape(-1)[: 3 * x.size].reshape(3, *x.shape)
    difference, squares, products = maps
    products[...] = x
    difference[...] = y
    np.subtract(difference, products, out=difference)
    np.multiply(difference, difference, out=squares)
    np.multiply(products, difference, out=products)
    _blur_along(maps)
    for one, kernel in ((difference, _DOWN), (squares, _DOWN), (products, _TWICE_DOWN)):
        _blur_down(one, kernel)
    mean, variance, covariance = maps[:, :, _EDGE:-_EDGE]
    kept = count, height - WINDOW + 1, width
    square, cross = work[3:, : mean.size].reshape(2, *kept)
    inner = slice(top + _EDGE, top + _EDGE + kept[1])
    np.multiply(mean, mean, out=square)
    np.subtract(variance, square, out=variance)
    np.multiply(local.mean[channels, inner], mean, out=cross)
    np.subtract(covariance, cross, out=covariance)
    common = np.add(covariance, local.variance[channels, inner], out=covariance)
    found = np.divide(common, np.add(common, variance, out=variance), out=variance)
    return _Band(channels, top, found, square, cross, local.brightness[channels, inner])


def _darkened(band: _Band) -> Plane:
    """What luminance takes from contrast·structure, in the buffer of the squares."""
    brightness = np.add(np.add(band.cross, band.square, out=band.cross), band.brightness, out=band.cross)
    lost = np.divide(band.square, brightness, out=band.square)
    return np.multiply(lost, band.contrast, out=lost)


def _blur_along(maps: Plane) -> None:
    """Blur rows in place."""
    rows = maps.reshape(-1, maps.shape[-1])
    cv2.filter2D(rows, -1, _ALONG, dst=rows)


def _blur_down(maps: Plane, kernel: Plane) -> None:
    """Blur columns in place; the first and last five rows of each plane are meaningless afterwards."""
    rows = maps.reshape(-1, maps.shape[-1])
    width = rows.shape[1]
    strips = -(-width // _STRIP)
    for strip in range(strips):
        part = rows[:, width * strip // strips : width * (strip + 1) // strips]
        cv2.filter2D(part, -1, kernel, dst=part)


def _local(frame: Frame, level: int) -> _Local:
    mean = np.subtract(planes(frame, level), np.float32(CENTRE), dtype=np.float32)
    variance = mean * mean
    for maps in (mean, variance):
        _blur_along(maps)
        _blur_down(maps, _DOWN)
    np.subtract(variance, mean * mean, out=variance)
    np.add(np.multiply(variance, np.float32(2), out=variance), np.float32(C2), out=variance)
    np.multiply(np.add(mean, np.float32(CENTRE), out=mean), np.float32(2), out=mean)
    brightness = np.multiply(mean, mean)
    np.add(np.multiply(brightness, np.float32(0.5), out=brightness), np.float32(C1), out=brightness)
    return _Local(mean, variance, brightness)
