"""Other sizes: shrinking and enlarging, and the aspect ratios a model knows."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

from convergebench.editors.simulated.options import Choice, Number
from convergebench.editors.simulated.pixels import Pixels
from convergebench.editors.simulated.wear.base import Occasion, Wear, WearKind


def resize(*, factor: float) -> Wear:
    """Down by a factor and up again, both by Lanczos."""

    def wear(pixels: Pixels, occasion: Occasion) -> Pixels:
        height, width = pixels.shape[:2]
        small = (max(1, round(width * factor)), max(1, round(height * factor)))
        return _lanczos(_lanczos(pixels, small), (width, height))

    return wear


def _lanczos(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    if size == (pixels.shape[1], pixels.shape[0]):
        return pixels
    # Pillow's filter widens when it shrinks; OpenCV's does not and would alias.
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS), np.uint8)


BUDGETS = {"1K": 1, "2K": 2, "4K": 4}
_ACROSS, _DOWN = 64, 16
"""A model's latent grid: widths come in steps of 64, heights in steps of 16 at 1K."""


def snapped(width: int, height: int) -> tuple[int, int]:
    """The 1K size a model would answer with: about a megapixel on its grid. 5632×3072 becomes 1408×752."""
    across = max(_ACROSS, _ACROSS * round(1024 * math.sqrt(width / height) / _ACROSS))
    return across, max(_DOWN, _DOWN * round(1024 * 1024 / across / _DOWN))


def crop(*, budget: str) -> Wear:
    """Cut to the nearest aspect ratio on the grid; then, unless the budget is `keep`, resize to 1K, 2K or 4K.

    The first step cuts, later ones find nothing to cut. A resolution in the settings overrules the budget.
    """

    def wear(pixels: Pixels, occasion: Occasion) -> Pixels:
        height, width = pixels.shape[:2]
        across, down = snapped(width, height)
        cut_width = min(width, max(1, round(height * across / down)))
        cut_height = min(height, max(1, round(width * down / across)))
        # A difference of one pixel is the rounding of an earlier cut, not another aspect ratio.
        if width - cut_width > 1:
            left = (width - cut_width) // 2
            pixels = np.ascontiguousarray(pixels[:, left : left + cut_width])
        elif height - cut_height > 1:
            top = (height - cut_height) // 2
            pixels = np.ascontiguousarray(pixels[top : top + cut_height])
        times = BUDGETS.get(occasion.resolution or budget)
        return pixels if times is None else _lanczos(pixels, (across * times, down * times))

    return wear


RESIZE = WearKind({"factor": Number(0.75, 0.05, 1.0)}, resize)
CROP = WearKind({"budget": Choice("keep", ("keep", "1K", "2K", "4K"))}, crop, moves=True)
