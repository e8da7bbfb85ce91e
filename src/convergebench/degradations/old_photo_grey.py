"""An old print in black and white: faded, soft, stained, folded and cracked. All channels are equal."""

from __future__ import annotations

import numpy as np

from convergebench.degradations._cracks import damaged
from convergebench.degradations._linear_light import display, levels, to_light, to_pixels
from convergebench.degradations._noise import clouds, grain
from convergebench.degradations._picture_size import scale_of
from convergebench.degradations._psf import softened
from convergebench.degradations._stains import foxing, paper_texture, stains
from convergebench.degradations.base import degradation
from convergebench.images.frame import Pixels, Plane

SOFT = (1.0, 2.2)
"""Width of the blur of an old lens at severity 1, for a picture of 1024 pixels."""
BLACKS = (0.08, 0.22)
"""How far black has faded at severity 1, as a share of full scale."""
WHITES = (0.05, 0.16)
"""How far white has darkened."""
GRAIN = (0.02, 0.045)
STAINS = (0.5, 3.5)
SPOTS = (15.0, 90.0)
ORTHOCHROMATIC = 0.4
"""Share of plates that were blind to red: skin and lips come out dark, skies white."""
_EYE = (0.25, 0.55, 0.20)
_BLUE_AND_GREEN = (0.03, 0.47, 0.50)


@degradation("old-photo-grey", title="Old Photo (Black and White)", family="Historical & Analog")
def old_photo_grey(pixels: Pixels, draw: np.random.Generator, severity: float) -> Pixels:
    """An old print in black and white: faded, soft, with stains, folds, cracks and the texture of its paper."""
    plan, fade, surface, stain, spots, grains, paper = draw.spawn(7)
    shape, scale = (pixels.shape[0], pixels.shape[1]), scale_of(pixels)
    response = _BLUE_AND_GREEN if plan.uniform() < ORTHOCHROMATIC else _EYE
    width, amount = plan.uniform(*SOFT), plan.uniform(*GRAIN)
    many, foxed = plan.uniform(*STAINS) * severity, plan.uniform(*SPOTS) * severity
    light = np.asarray(to_light(pixels) @ np.array(response, np.float32), np.float32)
    values = display(to_pixels(softened(light, width * severity * scale)))
    values += grain(values, grains, amount=amount * severity, size=max(0.45, 1.1 * scale))
    values = _faded(values, fade, severity, blacks=plan.uniform(*BLACKS), whites=plan.uniform(*WHITES))
    dirt = stains(shape, stain, count=many, scale=scale) + 0.7 * foxing(shape, spots, count=foxed, scale=scale)
    values = values * np.power(np.float32(10), -0.75 * dirt)
    tooth = paper_texture(shape, paper, scale=scale)
    bare = np.float32(0.86) + np.float32(0.035) * tooth
    values = damaged(shape, surface, severity=severity, scale=scale).on(values, bare)
    values *= 1 + np.float32(0.014 * severity) * tooth
    return np.repeat(levels(values)[..., None], 3, axis=2)


def _faded(values: Plane, draw: np.random.Generator, severity: float, *, blacks: float, whites: float) -> Plane:
    """Silver that has gone: raised blacks and darker whites, in patches and most along the rim."""
    height, width = values.shape
    down, right = np.linspace(-1, 1, height, dtype=np.float32)[:, None], np.linspace(-1, 1, width, dtype=np.float32)
    rim = np.maximum(np.abs(down), np.abs(right)[None, :]) ** 5
    patches = 1 + 0.4 * clouds((height, width), draw, cell=max(height, width) / 2.2, octaves=3) + 0.6 * rim
    low = np.clip(np.float32(blacks * severity) * patches, 0, 0.5)
    high = 1 - np.float32(min(0.35, whites * severity))
    return np.asarray(low + (high - low) * values, np.float32)
