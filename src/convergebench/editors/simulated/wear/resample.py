"""Wear by resizing: shrinking and enlarging, and cropping to supported aspect ratios."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

from convergebench.editors.simulated.options import ChoiceOption, NumberOption
from convergebench.editors.simulated.pixels import Pixels
from convergebench.editors.simulated.wear.base import Wear, WearContext, WearKind


def resize(*, factor: float) -> Wear:
    """Down by a factor and up again, both by Lanczos."""

    def wear(pixels: Pixels, context: WearContext) -> Pixels:
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
"""Latent grid of a model: widths in steps of 64, heights in steps of 16, at 1K."""


def snapped(width: int, height: int) -> tuple[int, int]:
    """The 1K size of a model's answer: about a megapixel on its grid. 5632×3072 becomes 1408×752."""
    across = max(_ACROSS, _ACROSS * round(1024 * math.sqrt(width / height) / _ACROSS))
    return across, max(_DOWN, _DOWN * round(1024 * 1024 / across / _DOWN))


def crop(*, budget: str) -> Wear:
    """Cut to the nearest aspect ratio on the grid; then, unless the budget is `keep`, resize to 1K, 2K or 4K.

    Only the first step cuts. A resolution in the settings overrides the budget.
    """

    def wear(pixels: Pixels, context: WearContext) -> Pixels:
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
        times = BUDGETS.get(context.resolution or budget)
        return pixels if times is None else _lanczos(pixels, (across * times, down * times))

    return wear


RESIZE = WearKind({"factor": NumberOption(0.75, 0.05, 1.0)}, resize)
CROP = WearKind({"budget": ChoiceOption("keep", ("keep", "1K", "2K", "4K"))}, crop, moves=True)
