"""A frame of old film: soft, grainy, unevenly exposed, scratched and dusty. One frame shows no weave of the gate."""

from __future__ import annotations

import numpy as np

from convergebench.degradations._film_defects import dust, hairs, scratches
from convergebench.degradations._linear_light import display, levels, to_light, to_pixels
from convergebench.degradations._noise import clouds, grain, luma
from convergebench.degradations._picture_size import scale_of
from convergebench.degradations._psf import softened
from convergebench.degradations.base import degradation
from convergebench.images.frame import Pixels, Plane

UNSHARP = (1.0, 2.0)
"""Width of the blur at severity 1, for a picture of 1024 pixels."""
GRAIN = (0.022, 0.042)
"""Width of the grain in middle tones, as a share of full scale."""
FLICKER = (-0.33, 0.24)
"""How far the exposure of this frame is off, in stops."""
SCRATCHES = (3.0, 9.0)
SPECKS = (40.0, 130.0)
HAIRS = (1.0, 4.0)
GREY = 0.6
"""Share of films in black and white; the others are faded colour."""


@degradation("old-film", title="Old Film", family="Historical & Analog")
def old_film(pixels: Pixels, draw: np.random.Generator, severity: float) -> Pixels:
    """A frame of old film: unsharp, grainy, flickering, with wandering scratches, dust and hairs; mostly grey."""
    plan, exposure, grains, scratch_draw, dust_draw, hair_draw = draw.spawn(6)
    shape, scale = (pixels.shape[0], pixels.shape[1]), scale_of(pixels)
    grey, width, amount = plan.uniform() < GREY, plan.uniform(*UNSHARP), plan.uniform(*GRAIN)
    counts = [plan.uniform(*limits) * severity for limits in (SCRATCHES, SPECKS, HAIRS)]
    light = to_light(pixels)
    if grey:
        light = np.repeat(luma(light)[..., None], 3, axis=2)
    soft = softened(light, width * severity * scale)
    glow = softened(soft, 14 * scale)  # light scattered in the base of the film
    soft += np.float32(0.05 * min(severity, 3)) * (glow - soft)
    values = display(to_pixels(soft * _exposure(shape, exposure, severity)))
    values = _aged(values, plan, severity, grey=bool(grey))
    values += grain(values, grains, amount=amount * severity, size=max(0.45, 1.15 * scale))[..., None]
    for mark, own, count in zip((scratches, dust, hairs), (scratch_draw, dust_draw, hair_draw), counts, strict=True):
        values = mark(shape, own, count=count, scale=scale).on(values)
    return levels(values)


def _exposure(shape: tuple[int, int], draw: np.random.Generator, severity: float) -> Plane:
    """Flicker of a hand-cranked shutter: the whole frame, soft bands across it, and darker corners."""
    height, width = shape
    down, right = np.linspace(-1, 1, height, dtype=np.float32)[:, None], np.linspace(-1, 1, width, dtype=np.float32)
    bands = clouds((height, 1), draw, cell=height / 2.5, octaves=2)
    stops = draw.uniform(*FLICKER) + 0.2 * bands - draw.uniform(0.18, 0.45) * (down**2 + right[None, :] ** 2) ** 1.25
    stops = stops + 0.12 * clouds(shape, draw, cell=max(height, width) / 2, octaves=2)
    return np.asarray(np.exp2(min(severity, 1.4) * stops), np.float32)[..., None]


def _aged(values: Plane, draw: np.random.Generator, severity: float, *, grey: bool) -> Plane:
    """Less contrast; colour stock has lost part of its cyan and much of its colour."""
    lift, loss = draw.uniform(0.02, 0.08) * min(severity, 3), draw.uniform(0.3, 0.6) * min(severity, 1.5)
    values = np.float32(lift) + np.float32(1 - 1.6 * lift) * values
    if grey:
        return values
    middle = luma(values)[..., None]
    tint = np.array([1 + 0.12 * loss, 1 - 0.02 * loss, 1 - 0.16 * loss], np.float32)
    return (middle + np.float32(1 - loss) * (values - middle)) * tint
