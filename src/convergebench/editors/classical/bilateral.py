"""Bilateral filter (Tomasi and Manduchi 1998): a mean over neighbours that are near in place and in colour."""

from __future__ import annotations

from typing import Annotated

import cv2
import numpy as np
from pydantic import Field

from convergebench.documents import Strict
from convergebench.editors.classical.answer import ClassicalAnswer
from convergebench.editors.classical.luminance import levels
from convergebench.editors.classical.noise import noise_level
from convergebench.editors.classical.non_local_means import QUIET
from convergebench.images.frame import Pixels

PER_NOISE = 3.5
"""Range of colours that count as alike, in levels per level of noise."""


class BilateralOptions(Strict):
    """How strongly noise is taken off."""

    noise: Annotated[float, Field(ge=0, le=100)] | None = None
    """Standard deviation in levels; unset: estimated from the picture."""
    radius: Annotated[float, Field(ge=0.5, le=10)] = 1.8
    """Deviation of the neighbourhood, in pixels."""


def bilateral(pixels: Pixels, options: BilateralOptions) -> ClassicalAnswer:
    """The picture with less noise, and softer texture."""
    noise = noise_level(pixels) if options.noise is None else options.noise
    used = {"noise": round(noise, 2)}
    if noise < QUIET:
        return ClassicalAnswer(pixels, used)
    side = 2 * int(np.ceil(2.5 * options.radius)) + 1
    smooth = cv2.bilateralFilter(pixels.astype(np.float32), side, PER_NOISE * noise, options.radius)
    return ClassicalAnswer(levels(np.asarray(smooth, np.float32)), used)
