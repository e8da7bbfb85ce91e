"""Pictures that the tests of this room spoil."""

from __future__ import annotations

import math

import numpy as np

from convergebench.images.frame import Pixels


def scene(width: int = 96, height: int = 96, *, seed: int = 0) -> Pixels:
    """Soft patches with edges and texture in colour: like a photograph, something of every frequency."""
    draw = np.random.default_rng(seed)
    total = np.full((height, width, 3), 128.0)
    for cells in (3, 7, 17):
        patches = draw.normal(0, 34, (cells, cells, 3))
        rows, columns = (np.arange(size) * cells // size for size in (height, width))
        total += patches[rows][:, columns]
    total += draw.normal(0, 5, total.shape)
    return np.asarray(np.clip(total, 4, 251), np.uint8)


def flat(level: int = 128, side: int = 96) -> Pixels:
    """One even grey."""
    return np.full((side, side, 3), level, np.uint8)


def psnr(one: Pixels, other: Pixels) -> float:
    """Decibels."""
    error = float(np.mean((one.astype(np.float64) - other) ** 2))
    return 10 * math.log10(255**2 / max(error, 1e-9))
