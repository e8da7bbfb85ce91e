"""Random damage: static and scattered points."""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.simulated.options import NumberOption
from convergebench.editors.simulated.pixels import Pixels, pixels_of
from convergebench.editors.simulated.wear.base import Wear, WearContext, WearKind


def noise(*, sigma: float) -> Wear:
    """Independent Gaussian static with standard deviation `sigma` (1 is the whole range), rounded without bias."""

    def wear(pixels: Pixels, context: WearContext) -> Pixels:
        draws = context.random(1).integers(0, 1 << 16, pixels.shape, np.uint16)
        offsets = _gaussian_levels(sigma)[draws]
        return pixels_of(cv2.add(pixels, offsets, dtype=cv2.CV_8U))

    return wear


@lru_cache(maxsize=16)
def _gaussian_levels(sigma: float) -> NDArray[np.int16]:
    """65,536 equally likely whole levels that follow the Gaussian; drawing from a table is ten times faster.

    Rounding to levels adds 1/12 to the variance, which is subtracted beforehand; the table is symmetric, so its mean
    is exactly zero.
    """
    variance = (255 * sigma) ** 2
    spread = max(variance - 1 / 12, 0.15 * variance) ** 0.5
    count = 1 << 16
    upper = np.array([NormalDist().inv_cdf((count / 2 + step + 0.5) / count) for step in range(0, count // 2, 8)])
    half = np.rint(np.repeat(upper, 8) * spread)
    return np.concatenate([-half[::-1], half]).astype(np.int16)


def scatter(*, share: float, size: float) -> Wear:
    """Bright and dark points thrown over the picture: `share` of the area, `size` pixels across at 512."""

    def wear(pixels: Pixels, context: WearContext) -> Pixels:
        random = context.random(2)
        height, width = pixels.shape[:2]
        radius = max(0.5, size / 2 * min(height, width) / 512)
        count = random.poisson(share * height * width / (np.pi * radius**2))
        out = pixels.copy()
        places = random.random((count, 2)) * (width, height)
        tones = np.where(
            random.random((count, 1)) < 0.5, random.uniform(180, 255, (count, 3)), random.uniform(0, 90, (count, 3))
        )
        for (x, y), tone in zip(places, tones, strict=True):
            centre = (round(x * 16), round(y * 16))
            cv2.circle(out, centre, round(radius * 16), tone.tolist(), -1, cv2.LINE_AA, 4)
        return out

    return wear


NOISE = WearKind({"sigma": NumberOption(2 / 255, 0.0, 0.5)}, noise, random=True)
SCATTER = WearKind({"share": NumberOption(0.0015, 0.0, 0.2), "size": NumberOption(2.4, 0.5, 20)}, scatter, random=True)
