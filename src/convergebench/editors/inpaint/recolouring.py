"""Another colour for part of a picture: hue and saturation change, light and shade stay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convergebench.editors.inpaint.lab import colour_in_lab, from_lab, to_lab
from convergebench.editors.instructions.vocabulary import Colour
from convergebench.images.frame import Pixels

LIGHTNESS = 0.75
"""How far the mean lightness goes towards that of the colour; all the way would burn out or drown the shading."""


def recoloured(pixels: Pixels, amount: NDArray[np.float32], colour: Colour) -> Pixels:
    """The picture with this colour where `amount` is 1, as it was where it is 0."""
    if not (amount > 0.5).any():
        return pixels
    lab = to_lab(pixels)
    light, red_green, blue_yellow = colour_in_lab(colour)
    inside = amount > 0.5
    mean = float(np.median(lab[..., 0][inside]))
    wanted = mean + LIGHTNESS * (light - mean)
    # a gamma curve, so that black stays black and a highlight stays one
    power = np.log(np.clip(wanted, 4, 96) / 100) / np.log(np.clip(mean, 4, 96) / 100)
    shade = 100 * (np.clip(lab[..., 0], 0.5, 100) / 100) ** np.clip(power, 0.35, 3.0)
    # chroma is largest at the colour's own lightness and falls towards black and white
    fall = np.clip(np.minimum(shade / max(light, 20.0), (104 - shade) / max(104 - light, 20.0)), 0, 1.15)
    changed = np.stack([shade, red_green * fall, blue_yellow * fall], axis=-1)
    answer = from_lab(np.asarray(changed, np.float32)).astype(np.float32)
    mixed = pixels + (answer - pixels) * amount[..., None]
    return np.clip(mixed, 0, 255).round().astype(np.uint8)
