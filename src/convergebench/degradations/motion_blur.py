"""A camera that moves while its shutter is open: along a line, or along the crooked path of an unsteady hand."""

from __future__ import annotations

import math

import numpy as np

from convergebench.degradations._linear_light import to_light, to_pixels
from convergebench.degradations._noise import exposed
from convergebench.degradations._picture_size import scale_of
from convergebench.degradations._psf import along, blurred, shaken, straight
from convergebench.degradations.base import degradation
from convergebench.images.frame import Pixels

LENGTH = (24.0, 44.0)
"""Way of a point across the picture at severity 1, for a picture of 1024 pixels."""


@degradation("motion-blur", title="Motion Blur", family="Blur Artifacts")
def motion_blur(pixels: Pixels, draw: np.random.Generator, severity: float) -> Pixels:
    """A camera moved during the exposure, along a straight line or a shaken path."""
    plan, way, noise = draw.spawn(3)
    length = plan.uniform(*LENGTH) * severity * scale_of(pixels)
    angle = plan.uniform(0, math.pi)
    path = straight(length, angle) if plan.uniform() < 0.5 else shaken(1.25 * length, way)
    seen = blurred(to_light(pixels), along(path))
    return to_pixels(exposed(seen, noise, shot=2e-5 * severity, read=1e-3 * severity))
