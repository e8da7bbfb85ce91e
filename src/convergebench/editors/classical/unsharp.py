"""Unsharp mask: the difference from a blurred copy is added, so that edges stand out."""

from __future__ import annotations

from typing import Annotated

import cv2
import numpy as np
from pydantic import Field

from convergebench.documents import Strict
from convergebench.editors.classical.answer import ClassicalAnswer
from convergebench.editors.classical.luminance import luminance, with_luminance
from convergebench.editors.classical.noise import noise_level
from convergebench.images.frame import Pixels

SPARED = 2.0
"""Differences up to this many deviations of the noise are not raised."""


class UnsharpOptions(Strict):
    """How strongly, and at what scale."""

    amount: Annotated[float, Field(gt=0, le=10)] = 0.8
    """Share of the difference that is added."""
    radius: Annotated[float, Field(ge=0.3, le=50)] = 2.0
    """Deviation of the blurred copy, in pixels."""


def unsharp(pixels: Pixels, options: UnsharpOptions) -> ClassicalAnswer:
    """The picture with stronger edges, in luminance."""
    before = luminance(pixels)
    noise = noise_level(pixels)
    detail = before - np.asarray(cv2.GaussianBlur(before, (0, 0), options.radius), np.float32)
    spared = np.float32(SPARED * noise / 255)
    raised = np.sign(detail) * np.maximum(np.abs(detail) - spared, 0)
    after = np.asarray(before + options.amount * raised, np.float32)
    return ClassicalAnswer(with_luminance(pixels, before, after), {"noise": round(noise, 2)})
