"""Removes what a mask covers, with its edges and its shadow; MI-GAN makes up what was behind it."""

from __future__ import annotations

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.vision.inpainting import fill
from convergebench.vision.networks import Mask

GROW = 0.035
"""How far a mask is grown, as a share of the object's size, so that no rim of it stays."""
SHADOW_STEP = 0.88
"""A pixel beside an object is in its shadow if it is darker than this share of the ground around."""


def removed(image: Pixels, mask: Mask, *, shadow: bool = True) -> Pixels:
    """The picture without the masked object."""
    hole = grown(mask)
    if shadow:
        hole |= _shadow(image, hole)
    return fill(image, hole)


def grown(mask: Mask, share: float = GROW) -> Mask:
    """The mask with a margin, and without holes of its own that are smaller than the margin."""
    import cv2

    reach = max(2, round(share * float(np.sqrt(mask.sum()))) + 1)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    return np.asarray(cv2.dilate(mask.astype(np.uint8), kernel) > 0)


def _shadow(image: Pixels, mask: Mask) -> Mask:
    """Dark ground that touches the lower part of the mask."""
    import cv2

    rows, columns = np.nonzero(mask)
    top, bottom, left, right = rows.min(), rows.max(), columns.min(), columns.max()
    height, width = bottom - top + 1, right - left + 1
    near = np.zeros_like(mask)
    near[
        max(0, bottom - height // 4) : bottom + max(2, int(0.12 * height)),
        max(0, left - width // 2) : right + width // 2,
    ] = True
    near &= ~mask
    if not near.any():
        return near
    grey = cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), (0, 0), 1.5)
    dark = near & (grey < SHADOW_STEP * np.percentile(grey[near], 75))
    _, labels = cv2.connectedComponents((dark | mask).astype(np.uint8))
    touching = np.isin(labels, np.unique(labels[mask])) & dark
    # a dark floor is no shadow
    return touching if touching.sum() < 0.6 * near.sum() else np.zeros_like(mask)
