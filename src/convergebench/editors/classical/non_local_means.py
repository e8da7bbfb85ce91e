"""Non-local means (Buades, Coll and Morel 2005): each pixel becomes the mean of those with like surroundings."""

from __future__ import annotations

from typing import Annotated

import cv2
import numpy as np
from pydantic import Field

from convergebench.documents import Strict
from convergebench.editors.classical.answer import ClassicalAnswer
from convergebench.editors.classical.noise import noise_level
from convergebench.images.frame import Pixels

QUIET = 1.2
"""Noise in levels below which nothing is done: it is not visible, and texture looks like it."""
STRENGTH = 1.0
"""The filter's parameter per level of noise: best over noisy photographs."""
PATCH, SEARCHED = 3, 17
"""Sides of what is compared and of where it is looked for, in pixels."""


class NonLocalMeansOptions(Strict):
    """How strongly noise is taken off."""

    noise: Annotated[float, Field(ge=0, le=100)] | None = None
    """Standard deviation in levels; unset: estimated from the picture."""
    strength: Annotated[float, Field(gt=0, le=5)] = 1.0
    """Multiplies what follows from the noise."""


def non_local_means(pixels: Pixels, options: NonLocalMeansOptions) -> ClassicalAnswer:
    """The picture with less noise."""
    noise = noise_level(pixels) if options.noise is None else options.noise
    used = {"noise": round(noise, 2)}
    if noise < QUIET:
        return ClassicalAnswer(pixels, used)
    # the three channels are compared together: OpenCV's variant for colour compares lightness and colour apart in 8-bit
    # Lab, which restores about 2 dB less of independent noise and costs a clean picture its rounding
    smooth = cv2.fastNlMeansDenoising(pixels, None, STRENGTH * noise * options.strength, PATCH, SEARCHED)
    return ClassicalAnswer(np.asarray(smooth, np.uint8), used)
