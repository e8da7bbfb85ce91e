"""A lens out of focus: every point of light becomes a disk, of one radius or of several at different depths."""

from __future__ import annotations

import math

import numpy as np

from convergebench.degradations._linear_light import to_light, to_pixels
from convergebench.degradations._noise import clouds, exposed
from convergebench.degradations._picture_size import scale_of
from convergebench.degradations._psf import blurred, disk
from convergebench.degradations.base import degradation
from convergebench.images.frame import Pixels, Plane

RADIUS = (6.0, 11.0)
"""Largest radius of the disk at severity 1, for a picture of 1024 pixels."""
SHALLOW = (0.25, 0.55)
"""Radius of the sharper depth, as a share of the largest."""
_LAYERS = 5
"""Radii that a slope of depth is put together from."""


@degradation("defocus-blur", title="Defocus Blur", family="Blur Artifacts")
def defocus_blur(pixels: Pixels, draw: np.random.Generator, severity: float) -> Pixels:
    """A lens out of focus: disk blur, even, sloping with depth, or stronger behind or before a nearer plane."""
    plan, shape, noise = draw.spawn(3)
    radius = plan.uniform(*RADIUS) * severity * scale_of(pixels)
    nearest = radius * plan.uniform(*SHALLOW)
    variant = plan.choice(3, p=(0.4, 0.3, 0.3))
    light = to_light(pixels)
    if variant == 0:
        seen = blurred(light, disk(radius))
    elif variant == 1:
        seen = _sloping(light, _slope(light, shape), nearest=nearest, farthest=radius)
    else:
        seen = _two_planes(light, shape, nearest=nearest, farthest=radius)
    return to_pixels(exposed(seen, noise, shot=2e-5 * severity, read=1e-3 * severity))


def _slope(light: Plane, draw: np.random.Generator) -> Plane:
    """Depth from 0 to 1 along a direction, as of a floor or a wall seen at an angle."""
    height, width = light.shape[:2]
    angle = draw.uniform(0, 2 * math.pi)
    right, down = np.linspace(-1, 1, width)[None, :], np.linspace(-1, 1, height)[:, None]
    way = math.cos(angle) * right + math.sin(angle) * down
    return np.asarray((way / (abs(math.cos(angle)) + abs(math.sin(angle))) + 1) / 2, np.float32)


def _sloping(light: Plane, depth: Plane, *, nearest: float, farthest: float) -> Plane:
    """Blur that grows with depth: between layers of known radius, neighbours are mixed."""
    place = depth[..., None] * np.float32(_LAYERS - 1)
    total = np.zeros_like(light)
    for layer, radius in enumerate(np.linspace(nearest, farthest, _LAYERS)):
        total += np.maximum(0, 1 - np.abs(place - layer)) * blurred(light, disk(radius))
    return total


def _two_planes(light: Plane, draw: np.random.Generator, *, nearest: float, farthest: float) -> Plane:
    """A nearer thing and what is behind it, one sharper than the other; the blur of the nearer one covers the edge."""
    height, width = light.shape[:2]
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    right = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    middle, reach = draw.uniform(-0.35, 0.35), draw.uniform(0.45, 0.75)
    outline = 0.32 * clouds((height, width), draw, cell=max(height, width) / 3, octaves=2)
    # people and things stand in the lower middle of pictures
    far = np.hypot((right - np.float32(middle)) / np.float32(reach), np.maximum(0, -0.2 - down) / 0.9) + outline
    softness = np.float32(0.06)
    nearer = np.clip((1 - far) / softness + 0.5, 0, 1)[..., None]
    front, behind = (nearest, farthest) if draw.uniform() < 0.7 else (farthest, nearest)
    covers = blurred(np.ascontiguousarray(nearer.repeat(3, axis=2)), disk(front))
    return covers * blurred(light, disk(front)) + (1 - covers) * blurred(light, disk(behind))
