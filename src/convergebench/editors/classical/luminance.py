"""Luminance of a picture, and a picture with another luminance.

A change of luminance is added to the three channels alike, which keeps the colour differences exactly: a conversion to
another colour space and back in 8 bits would cost a clean picture up to two levels.
"""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels, Plane

_WEIGHTS = np.array([0.299, 0.587, 0.114], np.float32)


def luminance(pixels: Pixels) -> Plane:
    """BT.601 luma from 0 to 1."""
    return np.asarray(pixels.astype(np.float32) @ (_WEIGHTS / 255), np.float32)


def with_luminance(pixels: Pixels, before: Plane, after: Plane) -> Pixels:
    """The picture after its luminance has changed from `before` to `after`."""
    return levels(pixels + np.float32(255) * (after - before)[..., None])


def levels(values: Plane) -> Pixels:
    """Values from 0 to 255 as 8-bit levels."""
    return np.asarray(np.rint(np.clip(values, 0, 255)), np.uint8)
