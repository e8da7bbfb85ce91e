"""The two distributions IL-NIQE describes a patch by, fitted to every patch of a plane at once.

An asymmetric generalised Gaussian by its moments (Lasmar et al. 2009), as in NIQE, and a Weibull distribution by
maximum likelihood. Patches are squares of `side` pixels without overlap, numbered down the columns; a map has the
channels last, and each of its channels is a plane of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convergebench.metrics.no_reference._natural_scenes import Moments, asymmetric_shape, centre, spread

Array = NDArray[np.float64]

PASSES = 30
ENOUGH = 1e-5
"""Steps of Newton's method for the Weibull shape, and the relative step after which there is no need of another."""


class Gaussian(NamedTuple):
    """Shape and the two scales; the scales are NaN where a patch has nothing on that side."""

    shape: Array
    left: Array
    right: Array

    @property
    def mean(self) -> Array:
        """Where the distribution has its mean."""
        return (self.right - self.left) * centre(self.shape)


def tally(maps: Array, side: int) -> Array:
    """Five sums for each patch and channel: |x|, x², x·|x|, how many are below zero, how many above."""
    count, width, channels = maps.shape[0] // side, maps.shape[1], maps.shape[2]
    sums = np.empty((5, count, width // side, channels))
    for row in range(count):
        # a strip at a time stays in the processor's cache
        strip = maps[row * side : (row + 1) * side]
        size = np.abs(strip)
        for place, values in enumerate((size, strip * strip, strip * size)):
            sums[place, row] = values.sum(axis=0).reshape(-1, side, channels).sum(axis=1)
        for place, signs in enumerate((strip < 0, strip > 0), start=3):
            # a column of a patch has fewer than 256 pixels, so bytes hold the count
            column = signs.view(np.uint8).sum(axis=0, dtype=np.uint8)
            sums[place, row] = column.reshape(-1, side, channels).sum(axis=1)
    return sums.transpose(0, 2, 1, 3).reshape(5, -1, channels)


def gaussian(sums: Array, pixels: int) -> Gaussian:
    """Asymmetric generalised Gaussians from the sums of `tally` over patches of `pixels` pixels."""
    size, square, signed, below, above = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        left = np.sqrt(np.where(below > 0, np.maximum(square - signed, 0) / 2 / below, np.nan))
        right = np.sqrt(np.where(above > 0, np.maximum(square + signed, 0) / 2 / above, np.nan))
    shape = asymmetric_shape(Moments(size / pixels, square / pixels, left, right))
    scale = spread(shape)
    return Gaussian(shape, left * scale, right * scale)


class Weibull(NamedTuple):
    """Scale and shape; the shape is infinite where all values of a patch are one and the same."""

    scale: Array
    shape: Array


def weibull(squares: Array, side: int) -> Weibull:
    """Weibull distributions of the roots of `squares` (above zero), for each patch and channel.

    Newton's method on the likelihood's equation for the shape k: Σ xᵏ ln x / Σ xᵏ − mean ln x = 1 / k. Logarithms and
    powers are taken in single precision (which moves a score by less than 0.0002), sums pairwise.
    """
    rows, columns, channels = squares.shape[0] // side, squares.shape[1] // side, squares.shape[2]
    logs = np.log(squares.astype(np.float32)).reshape(rows, side, columns, side, channels)
    x = np.ascontiguousarray(logs.transpose(2, 0, 4, 1, 3)).reshape(columns * rows * channels, side * side)
    x *= np.float32(0.5)
    top = x.max(axis=1).astype(np.float64)
    x -= top[:, None].astype(np.float32)
    middle = x.mean(axis=1, dtype=np.float64)
    spread = x.std(axis=1, dtype=np.float64)
    flat = spread < 1e-6
    shape = 1.2825 / np.where(flat, 1, spread)
    level = np.zeros_like(shape)
    power = np.empty_like(x)
    for _ in range(PASSES):
        np.exp(np.multiply(x, shape[:, None].astype(np.float32), out=power), out=power)
        zeroth = power.sum(axis=1).astype(np.float64)
        power *= x
        first = power.sum(axis=1) / zeroth
        power *= x
        second = power.sum(axis=1) / zeroth
        step = (first - middle - 1 / shape) / (second - first**2 + 1 / shape**2)
        # the logarithm of the scale, ln(mean xᵏ) / k, carried along the step by its derivative
        mean = np.log(zeroth / x.shape[1])
        level = mean / shape - step * (first / shape - mean / shape**2)
        shape = np.maximum(shape - step, shape / 2)
        if np.abs(step / shape)[~flat].max(initial=0) < ENOUGH:
            break
    scale = np.exp(top + np.where(flat, 0, level))
    return Weibull(scale.reshape(-1, channels), np.where(flat, np.inf, shape).reshape(-1, channels))
