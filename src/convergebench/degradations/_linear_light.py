"""Between the 8-bit sRGB values of a file and linear light, where lenses and shutters add up what they see."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels, Plane

_STEPS = 65_536
"""Steps of the table from light to sRGB: the steepest part of the curve moves by 0.05 of a level per step."""


def _decoded(values: Plane) -> Plane:
    low = values / 12.92
    return np.where(values <= 0.04045, low, ((values + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _encoded(light: Plane) -> Plane:
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055).astype(np.float32)


_TO_LIGHT = _decoded(np.linspace(0, 1, 256, dtype=np.float32))
_TO_LEVELS = np.rint(255 * _encoded(np.linspace(0, 1, _STEPS, dtype=np.float32))).astype(np.uint8)


def to_light(pixels: Pixels) -> Plane:
    """Linear light, 0 to 1."""
    return _TO_LIGHT[pixels]


def to_pixels(light: Plane) -> Pixels:
    """8-bit sRGB of linear light; what is outside 0 to 1 is clipped, as a sensor does."""
    steps = np.clip(light, 0, 1) * np.float32(_STEPS - 1) + np.float32(0.5)
    return _TO_LEVELS[steps.astype(np.uint16)]


def levels(values: Plane) -> Pixels:
    """Display values of 0 to 1 as 8-bit levels."""
    return (np.clip(values, 0, 1) * np.float32(255) + np.float32(0.5)).astype(np.uint8)


def display(pixels: Pixels) -> Plane:
    """8-bit levels as display values of 0 to 1, close to equal steps for the eye."""
    return pixels.astype(np.float32) / np.float32(255)
