"""A cheap surveillance camera: few interlaced lines, weak colour, noise, a timestamp, strong compression."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.degradations._compression import jpeg, quality
from convergebench.degradations._linear_light import display, levels, to_light, to_pixels
from convergebench.degradations._noise import clouds, exposed, luma
from convergebench.degradations._picture_size import reduced_size, reduction, resized
from convergebench.degradations._timestamp import stamped
from convergebench.degradations.base import degradation
from convergebench.images.frame import Pixels, Plane

REDUCTION = (2.8, 4.4)
"""How many pixels of a side become one at severity 1, for a picture of 1024 pixels."""
QUALITY = (28.0, 55.0)
"""JPEG quality of the recorder at severity 1; two passes."""
MOVED = (1.0, 3.0)
"""How far moving things get between the two fields, in pixels of a camera with `_LINES` lines."""
_LINES = 300
SHOT, READ = (1.5e-3, 5e-3), (0.006, 0.018)
INFRARED = 0.25
"""Share of cameras at night: grey."""


@degradation("surveillance", title="Surveillance", family="Low-Quality Imaging")
def surveillance(pixels: Pixels, draw: np.random.Generator, severity: float) -> Pixels:
    """A surveillance camera: low resolution, interlaced, noisy, with little colour, compressed, with a timestamp."""
    plan, noise, motion, clock = draw.spawn(4)
    smaller = reduction(plan.uniform(*REDUCTION), severity, pixels)
    usual, shot, read = plan.uniform(*QUALITY), plan.uniform(*SHOT), plan.uniform(*READ)
    colour = 0.0 if plan.uniform() < INFRARED else 1 - plan.uniform(0.2, 0.5) * min(severity, 2)
    height, width = pixels.shape[:2]
    few = resized(to_light(pixels), reduced_size(pixels, smaller))
    few = exposed(few * _lens(few, severity), noise, shot=shot * severity, read=read * severity)
    fields = _interlaced(_signal(display(to_pixels(few)), colour, severity), motion, severity)
    frame = stamped(levels(fields), clock)
    for passes in (0, 8):  # the camera's own, then the recorder's
        frame = jpeg(frame, quality(min(95.0, usual + passes), severity))
    return levels(resized(display(frame), (width, height), cv2.INTER_LINEAR))


def _lens(light: Plane, severity: float) -> Plane:
    """A small lens: darker corners."""
    height, width = light.shape[:2]
    down, right = np.linspace(-1, 1, height, dtype=np.float32)[:, None], np.linspace(-1, 1, width, dtype=np.float32)
    dark = 0.16 * min(severity, 3) * (down**2 + right[None, :] ** 2)
    return np.asarray(1 - dark.reshape(height, width, 1), np.float32)


def _signal(values: Plane, colour: float, severity: float) -> Plane:
    """An analogue signal: brightness a little soft along the line, with overshoot; colour very soft and weak."""
    bright = luma(values)[..., None]
    tint = _along_lines(values - bright, 2.2 * severity)
    line = _along_lines(bright, 0.55 * severity)
    overshoot = line + np.float32(0.35 * min(severity, 1)) * (line - _along_lines(line, 1.5))
    return np.asarray(overshoot + np.float32(colour) * tint, np.float32)


def _along_lines(values: Plane, sigma: float) -> Plane:
    """Softer from left to right only."""
    if sigma < 0.1:
        return values
    soft = cv2.GaussianBlur(values, (0, 1), sigma, borderType=cv2.BORDER_REFLECT)
    return np.asarray(soft, np.float32).reshape(values.shape)


def _interlaced(values: Plane, draw: np.random.Generator, severity: float) -> Plane:
    """Every second line is a field later: what moves is shifted there, and combs show along its edges."""
    height, width = values.shape[:2]
    speed = draw.uniform(*MOVED) * draw.choice((-1, 1)) * severity * max(0.3, height / _LINES)
    moving = np.clip(0.55 + 0.65 * clouds((height, width), draw, cell=max(height, width) / 2, octaves=1), 0.15, 1)
    later = np.arange(height)[:, None] % 2 == 1
    right = np.arange(width, dtype=np.float32)[None, :] + np.where(later, 0.5, -0.5) * np.float32(speed) * moving
    down = np.broadcast_to(np.arange(height, dtype=np.float32)[:, None], right.shape)
    shifted = cv2.remap(
        values, right.astype(np.float32), np.ascontiguousarray(down), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT
    )
    return np.asarray(shifted, np.float32)
