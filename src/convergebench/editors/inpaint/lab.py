"""Between RGB and CIE Lab: lightness 0 to 100, and two axes of colour."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convergebench.editors.instructions.vocabulary import Colour
from convergebench.images.frame import Pixels

LabPixels = NDArray[np.float32]
"""Height × width × 3."""


def to_lab(pixels: Pixels) -> LabPixels:
    """The same picture in Lab."""
    import cv2

    return np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), np.float32)


def from_lab(lab: LabPixels) -> Pixels:
    """The same picture in RGB; what no screen can show is clipped."""
    import cv2

    back = np.asarray(cv2.cvtColor(lab.astype(np.float32), cv2.COLOR_LAB2RGB), np.float32)
    return np.clip(back * 255, 0, 255).round().astype(np.uint8)


def colour_in_lab(colour: Colour) -> tuple[float, float, float]:
    """One colour in Lab."""
    light, red_green, blue_yellow = to_lab(np.array([[colour]], np.uint8))[0, 0].tolist()
    return light, red_green, blue_yellow
