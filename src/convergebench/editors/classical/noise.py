"""How noisy a picture is, estimated from the picture alone.

The mean absolute Haar detail of a block, times 1.2533, is the deviation of its noise, raised by whatever texture the
block has. A low quantile over the blocks therefore tells noise from texture. Blocks at black or white are left out,
where noise is cut off. Grain coarser than a pixel is looked for at half size.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Pixels, Plane

BLOCK = 8
"""Side of a block, in detail coefficients: 16 pixels."""
QUANTILE = 0.2
UNBIASED = 1.09
"""The mean of 64 absolute values scatters by 9 %, so that its 20 % quantile lies this much too low for pure noise."""
LEAST_BLOCKS = 4
UNTOUCHED = 0.5
"""Least noise in levels of a picture as a camera has taken it; rounding alone has 0.3."""


def noise_level(pixels: Pixels) -> float:
    """Standard deviation of the noise per colour channel, in levels; 0 for pictures too small to tell."""
    return max(_fine_and_coarse(pixels))


def was_processed(pixels: Pixels) -> bool:
    """Whether it was compressed, enlarged or denoised: a camera's noise is missing, or coarser than a pixel."""
    fine, coarse = _fine_and_coarse(pixels)
    return fine < UNTOUCHED or coarse > 2 * fine


def _fine_and_coarse(pixels: Pixels) -> tuple[float, float]:
    """Noise at full and at half size, where white noise has half its deviation."""
    fine = _of_channels(pixels.astype(np.float32))
    height, width = pixels.shape[:2]
    if min(height, width) < 4 * BLOCK:
        return fine, 0.0
    half = cv2.resize(pixels.astype(np.float32), (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    return fine, _of_channels(np.asarray(half, np.float32))


def _of_channels(values: Plane) -> float:
    found = [level for channel in range(3) if (level := _of_plane(values[..., channel])) is not None]
    return float(np.median(found)) if found else 0.0


def _of_plane(plane: Plane) -> float | None:
    rows, columns = (side // (2 * BLOCK) for side in plane.shape)
    if rows * columns < LEAST_BLOCKS:
        return None
    whole = plane[: rows * 2 * BLOCK, : columns * 2 * BLOCK]
    detail = np.abs(whole[::2, ::2] - whole[1::2, ::2] - whole[::2, 1::2] + whole[1::2, 1::2]) / 2
    means = _blocks(whole, 2 * BLOCK).mean(axis=1)
    inside = (means > 8) & (means < 247)
    if inside.sum() < LEAST_BLOCKS:
        return None
    deviations = _blocks(detail, BLOCK)[inside].mean(axis=1) * np.sqrt(np.pi / 2)
    return float(np.quantile(deviations, QUANTILE)) * UNBIASED


def _blocks(plane: Plane, side: int) -> NDArray[np.float32]:
    rows, columns = plane.shape[0] // side, plane.shape[1] // side
    parts = plane.reshape(rows, side, columns, side).transpose(0, 2, 1, 3)
    return parts.reshape(rows * columns, side * side)
