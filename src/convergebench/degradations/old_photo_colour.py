"""An old print in colour: its dyes have faded at different rates, its paper has yellowed; stained, folded, cracked."""

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

SOFT = (0.8, 1.8)
"""Width of the blur at severity 1, for a picture of 1024 pixels."""
FADED_CYAN = ((0.30, 0.55), (0.08, 0.22), (0.15, 0.35))
"""Share of the density lost by the cyan, magenta and yellow dye in the dark: cyan goes first, the print turns red."""
YELLOWED = ((0.18, 0.30), (0.14, 0.26), (0.10, 0.22))
"""The same for a print that yellowed; most of its cast is the stain of its paper."""
CYAN_GOES = 0.65
"""Share of prints of the first sort."""
GRAIN = (0.012, 0.03)
STAINS = (0.3, 2.5)
SPOTS = (10.0, 60.0)
_DYES = np.array([[1.0, 0.09, 0.01], [0.22, 1.0, 0.06], [0.10, 0.28, 1.0]], np.float32)
"""Density in red, green and blue (rows) of each dye (cyan, magenta, yellow): none absorbs its own third alone."""
_DARKEST = 0.006
"""Light that the blackest black of a print sends back: a density of 2.2."""
_BROWN = np.array([0.45, 0.85, 1.35], np.float32)
"""Density of a stain in red, green and blue."""
_PAPER = np.array([0.90, 0.87, 0.80], np.float32)


@degradation("old-photo-colour", title="Old Photo (Color)", family="Historical & Analog")
def old_photo_colour(pixels: Pixels, draw: np.random.Generator, severity: float) -> Pixels:
    """An old print in colour: dyes faded to a red or yellow cast, with stains, folds and cracks."""
    plan, fade, surface, stain, spots, grains, paper = draw.spawn(7)
    shape, scale = (pixels.shape[0], pixels.shape[1]), scale_of(pixels)
    width, amount = plan.uniform(*SOFT), plan.uniform(*GRAIN)
    many, foxed = plan.uniform(*STAINS) * severity, plan.uniform(*SPOTS) * severity
    light = softened(to_light(pixels), width * severity * scale)
    values = display(to_pixels(_faded(light, fade, severity)))
    values += grain(values, grains, amount=amount * severity, size=max(0.45, scale))[..., None]
    dirt = stains(shape, stain, count=many, scale=scale) + 0.8 * foxing(shape, spots, count=foxed, scale=scale)
    values = values * np.power(np.float32(10), -0.6 * dirt[..., None] * _BROWN)
    tooth = paper_texture(shape, paper, scale=scale)[..., None]
    bare = _PAPER + np.float32(0.03) * tooth
    values = damaged(shape, surface, severity=0.8 * severity, scale=scale).on(values, bare)
    return levels(values * (1 + np.float32(0.012 * severity) * tooth))


def _faded(light: Plane, draw: np.random.Generator, severity: float) -> Plane:
    """The print's densities after fading, unevenly; a little haze lies over the blacks."""
    cyan_goes = draw.uniform() < CYAN_GOES
    losses = [draw.uniform(*limits) for limits in (FADED_CYAN if cyan_goes else YELLOWED)]
    stain = np.array(
        [0.0, draw.uniform(0.02, 0.05), draw.uniform(0.07, 0.13) if cyan_goes else draw.uniform(0.12, 0.22)]
    )
    height, width = light.shape[:2]
    years = severity * (1 + 0.25 * clouds((height, width), draw, cell=max(height, width) / 2, octaves=2)[..., None])
    kept = np.power(1 - np.array(losses, np.float32), np.maximum(years, 0).astype(np.float32))
    density = -np.log10(np.maximum(light, np.float32(_DARKEST)))
    dyes = density @ np.linalg.inv(_DYES).T.astype(np.float32)
    density = (dyes * kept) @ _DYES.T + stain.astype(np.float32) * np.float32(min(severity, 3))
    haze = np.float32(0.012 * min(severity, 3))
    return np.asarray(haze + (1 - haze) * np.power(np.float32(10), -density), np.float32)
