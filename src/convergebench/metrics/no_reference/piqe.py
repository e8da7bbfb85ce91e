"""PIQE: the share of busy blocks that look damaged, by rules instead of training.

Venkatanath, Praneeth, Chandrasekhar, Channappayya, Medasani: Blind image quality evaluation using perception based
features (2015). Luma, stretched so that its brightest value is 255, is divided by its local contrast and cut into
blocks of 16×16 pixels. Only blocks with a variance above 0.1 count, since people look where something happens. Such a
block is damaged if a stretch of six pixels along its border is nearly even (deviation under 0.1: blocking, blur), or if
its deviation exceeds twice its centre–surround contrast (noise). The value is the damaged share, weighted by variance,
from 0 (best) to 100 (worst). No weights.

This follows MATLAB's `piqe`: luma of rgb2gray rounded to 8 bits, sides mirrored up to a multiple of 16, edges repeated
outwards, deviations of samples (n − 1), and, when the surround of a block is taken, its columns 8 and 10 left out where
8 and 9 are meant (the original deletes them one after the other). On sizes that are multiples of 16 pyiqa and pypiqe
agree with it, except where stretching ends in a half, which they round to even and MATLAB up: some images whose
brightest value is not 255 are up to 0.8 away. On other sizes pyiqa mirrors by the remainder instead of what is missing
and leaves part of the image out. TID2013's five calibration images give MATLAB's values to two decimals.

Traps: an image without any busy block, a strong blur say, is 100 by definition. An image that is one even grey has no
value. Thresholds make the value jump by 100/(blocks + 1) when one block changes sides. It needs 16 pixels a side.
Code: Apache-2.0.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Pixels, Plane
from convergebench.metrics.base import Item, metric
from convergebench.metrics.no_reference._natural_scenes import Numbers, coefficients, textured_luma

BLOCK = 16
_BUSY = 0.1
_EVEN = 0.1
_STRETCH = 6


@metric(
    "piqe",
    kind="no-reference",
    better="lower",
    range=(0.0, 100.0),
    typical=(0.0, 100.0),
    roles=("source", "return"),
    aligned=False,
    paper="Venkatanath et al. 2015, doi:10.1109/NCC.2015.7084843",
)
def piqe(item: Item) -> float:
    """Share of busy blocks with visible blocking, blur or noise."""
    plane = coefficients(_stretched(textured_luma(item.subject, smallest=BLOCK)), cv2.BORDER_REPLICATE)
    columns = _column_sums(plane), _column_sums(plane * plane)
    variance = _variance(*columns)
    busy = variance > _BUSY
    damage = _with_even_border(plane) * (1 - variance) + _noisy(*columns, np.sqrt(variance)) * variance
    return float(100 * (damage[busy].sum() + 1) / (np.count_nonzero(busy) + 1))


def _stretched(luma: Pixels) -> Pixels:
    """Brightest value at 255, sides mirrored up to a multiple of the block."""
    levels = np.floor(255 * (np.arange(256) / luma.max()) + 0.5).clip(0, 255).astype(np.uint8)
    below, beside = (-side % BLOCK for side in luma.shape)
    stretched = cv2.copyMakeBorder(cv2.LUT(luma, levels), 0, below, 0, beside, cv2.BORDER_REFLECT)
    return np.asarray(stretched, np.uint8)


def _column_sums(plane: Plane) -> Numbers:
    """Rows of blocks × blocks in a row × the 16 columns of a block."""
    height, width = plane.shape
    sums = plane.reshape(-1, BLOCK, width).sum(axis=1)
    return np.asarray(sums.reshape(height // BLOCK, width // BLOCK, BLOCK), np.float64)


def _variance(sums: Numbers, squares: Numbers) -> Numbers:
    """Of each block, from the sums of as many of its columns as are given."""
    count = BLOCK * sums.shape[-1]
    variance: Numbers = (squares.sum(axis=-1) - sums.sum(axis=-1) ** 2 / count) / (count - 1)
    return np.maximum(variance, 0)


def _with_even_border(plane: Plane) -> NDArray[np.bool_]:
    """Blocks with six pixels in a row on one of their four sides that hardly differ."""
    height, width = (side // BLOCK for side in plane.shape)
    even = np.zeros((height, width), bool)
    for edge in (0, BLOCK - 1):
        even |= _has_even_stretch(plane[edge::BLOCK].reshape(height, width, BLOCK))
        even |= _has_even_stretch(plane[:, edge::BLOCK].reshape(height, BLOCK, width).swapaxes(1, 2))
    return even


def _has_even_stretch(sides: Plane) -> NDArray[np.bool_]:
    values = np.ascontiguousarray(np.moveaxis(sides, -1, 0), np.float64)
    squares = values * values
    places = range(BLOCK - _STRETCH + 1)
    sums = np.stack([values[place : place + _STRETCH].sum(axis=0) for place in places])
    totals = np.stack([squares[place : place + _STRETCH].sum(axis=0) for place in places])
    return np.asarray((totals - sums**2 / _STRETCH < _EVEN**2 * (_STRETCH - 1)).any(axis=0))


def _noisy(sums: Numbers, squares: Numbers, deviation: Numbers) -> NDArray[np.bool_]:
    """Blocks whose deviation exceeds twice its relative distance from the ratio of centre to surround."""
    middle, around = ([7, 8], [column for column in range(BLOCK) if column not in (7, 9)])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(_variance(sums[..., middle], squares[..., middle]))
        ratio = np.nan_to_num(ratio / np.sqrt(_variance(sums[..., around], squares[..., around])))
        noisy: NDArray[np.bool_] = deviation > 2 * np.abs(deviation - ratio) / np.maximum(deviation, ratio)
    return noisy
