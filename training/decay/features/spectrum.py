"""The distribution of a picture's spectral energy: slope, bend and upper end.

Everything is computed from tiles of 64 × 64 pixels, so that it does not depend on the size of the picture, and averaged
as logarithms, so that a few strong outlines do not dominate. Levels are relative to the picture's own middle
frequencies.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Plane

TILE = 64
FLOOR = 1e-2
"""Added to a tile's power: about the power of rounding to whole levels."""
_EDGES = (2.0, 3.0, 4.5, 6.5, 9.5, 13.5, 19.0, 25.0, 32.5)
"""Radii between the bands, in cycles per tile; the last ends just above the highest frequency along an axis."""


def _window() -> Plane:
    taps = np.hanning(TILE + 1)[:TILE]
    grid = np.outer(taps, taps)
    return np.asarray(grid / np.sqrt(np.square(grid).sum()), np.float32)


_WINDOW = _window()
_ROWS = np.fft.fftfreq(TILE, 1 / TILE)[:, None]
_COLUMNS = np.fft.rfftfreq(TILE, 1 / TILE)[None, :]
_RADIUS = np.hypot(_ROWS, _COLUMNS)
_BANDS = [(low <= _RADIUS) & (high > _RADIUS) for low, high in pairwise(_EDGES)]
_CENTRES = np.log2([np.sqrt(low * high) for low, high in pairwise(_EDGES)])
_CORNERS = _EDGES[-1] <= _RADIUS


def tile_powers(plane: Plane) -> NDArray[np.float64]:
    """Mean logarithm of the power at each frequency, over half-overlapping tiles."""
    height, width = plane.shape
    step = TILE // 2 if height * width < 600_000 else TILE
    view = np.lib.stride_tricks.sliding_window_view(plane, (TILE, TILE))[::step, ::step].reshape(-1, TILE, TILE)
    total = np.zeros((TILE, TILE // 2 + 1))
    for first in range(0, len(view), 64):
        tiles = view[first : first + 64]
        tiles = (tiles - tiles.mean(axis=(1, 2), keepdims=True)) * _WINDOW
        spectrum = np.fft.rfft2(tiles.astype(np.float64))
        total += np.log(np.square(np.abs(spectrum)) + FLOOR).sum(axis=0)
    mean: NDArray[np.float64] = total / len(view)
    return mean


def spectrum_features(plane: Plane, prefix: str) -> dict[str, float]:
    """The fall of the spectrum, what its upper end holds beyond that, and how round it is."""
    power = tile_powers(plane)
    bands = np.array([power[band].mean() for band in _BANDS])
    middle = slice(1, 6)
    slope, level = np.polyfit(_CENTRES[middle], bands[middle], 1)
    beyond = bands - (slope * _CENTRES + level)
    found = {
        "slope": slope,
        "bend": beyond[1] + beyond[5] - 2 * beyond[3],
        "top-0": beyond[5],
        "top-1": beyond[6],
        "top-2": beyond[7],
        "corner": power[_CORNERS].mean() - bands[7],
        "round": power[0, 20:].mean() + power[20:33, 0].mean() - 2 * _diagonal(power, 14, 23),
    }
    return {f"{prefix}-{name}": float(value) for name, value in found.items()}


def _diagonal(power: NDArray[np.float64], low: int, high: int) -> float:
    along = np.arange(low, high)
    return float((power[along, along].mean() + power[-along, along].mean()) / 2)
