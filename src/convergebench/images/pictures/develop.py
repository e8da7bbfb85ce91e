"""From scene-linear light to the finished 8-bit picture: glow, tone curve, vignette, grain, dither."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from convergebench.images.pictures.colour import encode
from convergebench.images.pictures.noise import soften
from convergebench.images.pictures.sheet import Colours, Plane, Sheet

GRAIN = 0.0035
"""Standard deviation of the film grain in finished values: about one grey level, felt more than seen."""


def develop(
    light: Colours, sheet: Sheet, *, exposure: float = 1.0, glow: float = 0.06, vignette: float = 0.12
) -> Pixels:
    """The finished picture. Dithered, so that smooth gradients do not band."""
    exposed = np.maximum(light * np.float32(exposure), 0.0)
    if glow:
        exposed = _bloom(exposed, sheet, glow)
    exposed *= _falloff(sheet, vignette)
    values = encode(_film(exposed))
    return _quantise(values, sheet)


def flat(light: Colours, sheet: Sheet) -> Pixels:
    """The finished picture of a drawing with clean colours: no tone curve, no grain."""
    return _quantise(encode(np.clip(light, 0.0, 1.0)), sheet, grain=0.0)


def _bloom(light: Colours, sheet: Sheet, amount: float) -> Colours:
    """Bright places spill a little, as in a lens."""
    out = np.empty_like(light)
    for channel in range(3):
        bright = np.minimum(np.maximum(light[channel] - 0.7, 0.0), 4.0)
        out[channel] = light[channel] + np.float32(amount) * (
            soften(bright, 0.015 * sheet.unit) + soften(bright, 0.07 * sheet.unit)
        )
    return out


def _falloff(sheet: Sheet, amount: float) -> Plane:
    radius = np.square(sheet.x / sheet.right) + np.square(sheet.y / sheet.bottom)
    found: Plane = 1 - np.float32(amount) * radius * np.float32(0.5)
    return found


def _film(light: Colours) -> Colours:
    """A filmic shoulder and a short toe (a fitted rational curve), white at about 5 times middle light."""
    a, b, c, d, e = (np.float32(v) for v in (2.2, 0.06, 2.1, 0.72, 0.10))
    return np.clip(light * (a * light + b) / (light * (c * light + d) + e), 0.0, 1.0)


def _quantise(values: Plane, sheet: Sheet, grain: float = GRAIN) -> Pixels:
    """To 8 bit with triangular dither; grain is one plane for all channels, as silver is."""
    rng = sheet.random("grain")
    shape = (sheet.height, sheet.width)
    out = np.empty((*shape, 3), dtype=np.uint8)
    silver = rng.standard_normal(shape, dtype=np.float32) * np.float32(grain * 255) if grain else np.float32(0)
    for channel in range(3):
        dither = rng.random(shape, dtype=np.float32) + rng.random(shape, dtype=np.float32) - 1
        full = values[channel] * np.float32(255) + silver + dither * np.float32(0.5)
        out[..., channel] = cv2.convertScaleAbs(np.clip(full, 0, 255))
    return out
