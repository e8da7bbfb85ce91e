"""Natural scene statistics: the common base of BRISQUE, NIQE and PIQE.

Each luma value is put in relation to its surroundings: (luma − local mean) / (local deviation + 1), with a Gaussian
window of 7×7 pixels and σ 7/6. In undamaged photographs these values, and the products of neighbours, follow
generalised Gaussians; damage bends their shapes.

The shape fits average the squares of what lies left and right of zero *separately*, so what is zero must be zero. In
an even area the value is 0 by arithmetic, yet a floating-point filter leaves ±10⁻¹⁴ there, which then counts as a
member of one side or the other: on an image that is one third even (I19 of TID2013) the order of summation alone moves
BRISQUE between 64.8 and 71.7. Here values are kept on a grid of 2⁻³⁰, and an even area is exactly 0 on every machine.

Local means and deviations are computed in float64, since E[x²] − E[x]² would lose its digits in float32; the
coefficients they give are kept in float32, and sums over them are gathered in float64 from short stretches. Against
float64 throughout this moves NIQE by less than three millionths of its value and BRISQUE not at all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Pixels, Plane

Numbers = NDArray[np.float64]

_EDGE = 3
_TAPS = np.arange(-_EDGE, _EDGE + 1)
_BELL = np.exp(-(_TAPS**2) / (2 * (7 / 6) ** 2))
_KERNEL = _BELL / _BELL.sum()
_BAND = 64
_CHUNK = 40_000
"""Coefficients whose five planes, twice, still sit in a processor's cache."""
_TO_GRID = 1.5 * 2.0**22
"""Added and taken away again it leaves a float64 on a grid of 2⁻³⁰."""

# First row of the inverse of NTSC's YIQ matrix, to full precision: MATLAB's rgb2gray. With 0.299, 0.587 and 0.114 one
# pixel in a thousand rounds the other way.
_LUMA = np.linalg.inv(np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.106, 1.703]]))[:1]

_HALVING = np.array([-3, -9, 29, 111, 111, 29, -9, -3]) / 256
"""The kernel of MATLAB's antialiased bicubic imresize(…, 0.5)."""

SHAPES = np.arange(200, 10001) / 1000
"""Shapes that are tried: 0.2 (spiked) to 10 (nearly even), the grid of the original code."""

_RATIOS = np.exp(2 * gammaln(2 / SHAPES) - gammaln(1 / SHAPES) - gammaln(3 / SHAPES))
_BETWEEN_RATIOS = (_RATIOS[1:] + _RATIOS[:-1]) / 2
_BETWEEN_INVERSES = (1 / _RATIOS[1:] + 1 / _RATIOS[:-1]) / 2


def rounded_luma(frame: Frame) -> Pixels:
    """Luma in whole numbers, as MATLAB's rgb2gray gives it for 8 bits; remembered."""
    return frame.derived("rounded-luma", _rounded_luma)


def _rounded_luma(frame: Frame) -> Pixels:
    luma: Pixels = cv2.transform(frame.pixels, _LUMA)  # type: ignore[assignment]
    return luma


def textured_luma(frame: Frame, *, smallest: int) -> Pixels:
    """`rounded_luma`; `Unmeasurable` if a side is under `smallest` or the image is one even grey."""
    if min(frame.size) < smallest:
        raise Unmeasurable("too-small", f"{frame.width}×{frame.height} has a side shorter than {smallest} pixels")
    luma = rounded_luma(frame)
    if luma.min() == luma.max():
        raise Unmeasurable("featureless", "an image of one grey has no texture to judge")
    return luma


def halved(plane: Pixels) -> Plane:
    """Half the size (rounded up), bicubic and antialiased, edges mirrored: MATLAB's imresize(…, 0.5).

    Its weights are whole numbers over 256, so an even area stays exactly even.
    """
    smooth = cv2.sepFilter2D(plane, cv2.CV_32F, _HALVING, _HALVING, anchor=(3, 3), borderType=cv2.BORDER_REFLECT)
    return np.ascontiguousarray(smooth[::2, ::2], np.float32)


def coefficients(plane: Pixels | Plane, border: int) -> Plane:
    """(plane − local mean) / (local deviation + 1); `border` is how cv2 continues the plane beyond its edges."""
    padded = cv2.copyMakeBorder(plane, _EDGE, _EDGE, _EDGE, _EDGE, border, value=0)
    height, width = plane.shape
    found, work = np.empty((height, width), np.float32), np.empty((3, _BAND + 2 * _EDGE, width + 2 * _EDGE))
    deviation = np.empty((_BAND, width), np.float32)
    for top in range(0, height, _BAND):
        band = found[top : top + _BAND]
        _coefficients(padded[top : top + _BAND + 2 * _EDGE], band, deviation[: len(band)], work)
    return found


def _coefficients(padded: NDArray[Any], detail: Plane, deviation: Plane, work: Numbers) -> None:
    """Those of one band into `detail`; the rest is room to work in, so that the processor's cache keeps it."""
    part, mean, square = work[:, : len(padded)]
    part[:] = padded
    cv2.sepFilter2D(part, -1, _KERNEL, _KERNEL, dst=mean)
    np.multiply(part, part, out=square)
    cv2.sepFilter2D(square, -1, _KERNEL, _KERNEL, dst=square)
    part += _TO_GRID
    part -= mean
    part -= _TO_GRID
    detail[:] = _inner(part)
    mean *= mean
    square -= mean
    deviation[:] = _inner(square)
    np.abs(deviation, out=deviation)
    cv2.sqrt(deviation, dst=deviation)
    deviation += 1
    detail /= deviation


def _inner(part: Numbers) -> Numbers:
    return part[_EDGE:-_EDGE, _EDGE:-_EDGE]


class Moments(NamedTuple):
    """What a shape is fitted to: means of absolute value and square; root mean squares left and right of zero."""

    absolute: Numbers
    square: Numbers
    left: Numbers
    right: Numbers


def moments_of_all(plane: Plane) -> list[Moments]:
    """Moments of a plane's coefficients and of the products of its four kinds of neighbours; edges wrap around."""
    height, width = plane.shape
    framed = np.empty((height + 1, width + 2), np.float32)
    framed[1:, 1:-1] = plane
    framed[0] = framed[-1]
    framed[:, 0], framed[:, -1] = framed[:, -2], framed[:, 1]
    band = max(1, _CHUNK // (width + 2))
    sums = sum(_sums(framed[None, top : top + band + 1]) for top in range(0, height, band))
    return _moments(np.asarray(sums), height * width)


def moments_of_blocks(plane: Plane, side: int) -> list[Moments]:
    """The same for each block of side × side pixels; both sides of the plane must be multiples."""
    height, width = plane.shape
    blocks = plane.reshape(height // side, side, width // side, side).swapaxes(1, 2).reshape(-1, side, side)
    framed = np.empty((len(blocks), side + 1, side + 2), np.float32)
    framed[:, 1:, 1:-1] = blocks
    framed[:, 0] = framed[:, -1]
    framed[..., 0], framed[..., -1] = framed[..., -2], framed[..., 1]
    group = max(1, _CHUNK // framed[0].size)
    sums = [_sums(framed[first : first + group]) for first in range(0, len(blocks), group)]
    return _moments(np.concatenate(sums, axis=-1), side * side)


def _sums(framed: Plane) -> Numbers:
    """Per block: sums of |x|, x², x·|x|, sign and non-zero, over the coefficients and over their products (5 × 5 × n).

    The products of the absolute values are the absolute values of the products, and so on for all five: each sum over
    products is a dot product of a plane with itself, shifted. The frame holds the neighbours; in one of the two copies
    it is zero, so that only what is inside counts.
    """
    blocks, height, width = framed.shape
    around = np.empty((5, blocks, height, width), np.float32)
    np.abs(framed, out=around[0])
    np.multiply(framed, framed, out=around[1])
    np.multiply(framed, around[0], out=around[2])
    sign = (framed > 0).view(np.int8) - (framed < 0).view(np.int8)
    around[3], around[4] = sign, sign != 0
    inside = around.copy()
    inside[:, :, 0] = 0
    inside[..., 0] = 0
    inside[..., -1] = 0
    here, there = inside.reshape(5, blocks, -1), around.reshape(5, blocks, -1)
    lags = (1, width, width + 1, width - 1)  # neighbours to the left, above, above left, above right
    pairs = [np.vecdot(here[..., lag:], there[..., :-lag]) for lag in lags]
    return np.array([here @ np.ones(height * width, np.float32), *pairs], np.float64)


def _moments(sums: Numbers, count: int) -> list[Moments]:
    found = []
    for absolute, square, signed, sign, present in sums:
        with np.errstate(invalid="ignore", divide="ignore"):
            left = np.sqrt(np.where(present > sign, np.maximum(square - signed, 0) / (present - sign), np.nan))
            right = np.sqrt(np.where(present > -sign, np.maximum(square + signed, 0) / (present + sign), np.nan))
        found.append(Moments(absolute / count, square / count, left, right))
    return found


def symmetric_shape(moments: Moments) -> Numbers:
    """Shape of the generalised Gaussian with these moments."""
    with np.errstate(invalid="ignore"):
        inverse = moments.square / moments.absolute**2
    return SHAPES[len(_BETWEEN_INVERSES) - np.searchsorted(_BETWEEN_INVERSES[::-1], inverse)]


def asymmetric_shape(moments: Moments) -> Numbers:
    """Shape of the asymmetric generalised Gaussian with these moments; the first of all where a side is empty."""
    with np.errstate(invalid="ignore", divide="ignore"):
        tilt = moments.left / moments.right
        ratio = moments.absolute**2 / moments.square * (tilt**3 + 1) * (tilt + 1) / (tilt**2 + 1) ** 2
    return np.where(np.isnan(ratio), SHAPES[0], SHAPES[np.searchsorted(_BETWEEN_RATIOS, ratio)])


def spread(shape: Numbers) -> Numbers:
    """Scale of a generalised Gaussian of deviation 1: √(Γ(1/shape) / Γ(3/shape))."""
    scale: Numbers = np.exp((gammaln(1 / shape) - gammaln(3 / shape)) / 2)
    return scale


def centre(shape: Numbers) -> Numbers:
    """Γ(2/shape) / Γ(1/shape): how far a difference of the two scales shifts the mean."""
    ratio: Numbers = np.exp(gammaln(2 / shape) - gammaln(1 / shape))
    return ratio
