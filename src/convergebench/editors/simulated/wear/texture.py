"""Damage to texture and outline: softening, simplifying, wrinkling."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.simulated.options import NumberOption
from convergebench.editors.simulated.pixels import Pixels, pixels_of
from convergebench.editors.simulated.wear.base import Wear, WearContext, WearKind


def blur(*, sigma: float) -> Wear:
    """Gaussian softening; `sigma` in pixels."""

    def wear(pixels: Pixels, context: WearContext) -> Pixels:
        return pixels_of(cv2.GaussianBlur(pixels, (0, 0), sigma)) if sigma > 0 else pixels

    return wear


def simplify(*, strength: float) -> Wear:
    """Texture melts into flat patches while outlines stay (a bilateral filter); `strength` in levels."""

    def wear(pixels: Pixels, context: WearContext) -> Pixels:
        return pixels_of(cv2.bilateralFilter(pixels, 5, strength, 1.6))

    return wear


def wrinkle(*, pixels_moved: float, wavelength: float) -> Wear:
    """Outlines ripple: a smooth random shift, up to some pixels at 512, felt only along edges."""

    def wear(pixels: Pixels, context: WearContext) -> Pixels:
        height, width = pixels.shape[:2]
        if min(height, width) < 4:
            return pixels
        grid = (max(2, round(width / wavelength)) + 1, max(2, round(height / wavelength)) + 1)
        waves = context.random(3).normal(0, 1, (grid[1], grid[0], 2)).astype(np.float32)
        shift = np.asarray(cv2.resize(waves, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)
        shift *= (pixels_moved * min(height, width) / 512 * _outlines(pixels))[..., None]
        there_x = shift[..., 0] + np.arange(width, dtype=np.float32)
        there_y = shift[..., 1] + np.arange(height, dtype=np.float32)[:, None]
        return pixels_of(cv2.remap(pixels, there_x, there_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))

    return wear


def _outlines(pixels: Pixels) -> NDArray[np.float32]:
    """How close each pixel is to an edge, 0 … 1."""
    height, width = pixels.shape[:2]
    half = (max(2, width // 2), max(2, height // 2))
    grey = cv2.cvtColor(cv2.resize(pixels, half, interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY)
    slope = cv2.magnitude(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))
    near = np.clip(np.asarray(cv2.blur(slope, (5, 5)), np.float32) / 60, 0, 1)
    return np.asarray(cv2.resize(near, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


BLUR = WearKind({"sigma": NumberOption(0.6, 0.0, 20)}, blur)
SIMPLIFY = WearKind({"strength": NumberOption(24.0, 0.0, 150)}, simplify)
WRINKLE = WearKind(
    {"pixels_moved": NumberOption(0.45, 0.0, 20), "wavelength": NumberOption(9.0, 2, 200)}, wrinkle, random=True
)
