"""Removes an object by inpainting."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.editors.simulated.pixels import Mask, Pixels

_LARGEST = 72
"""Regions with longer sides are inpainted at a smaller scale, since the time grows with the area."""


def inpaint(pixels: Pixels, mask: Mask) -> Pixels:
    """A new picture in which the masked area continues its surroundings (Telea's method)."""
    left, top, across, down = cv2.boundingRect(mask)
    if not across or not (mask == 0).any():
        return pixels.copy()
    room = max(3, round(0.12 * max(across, down)))
    y0, y1 = max(0, top - room), min(pixels.shape[0], top + down + room)
    x0, x1 = max(0, left - room), min(pixels.shape[1], left + across + room)
    crop, hole = pixels[y0:y1, x0:x1], mask[y0:y1, x0:x1]
    out = pixels.copy()
    out[y0:y1, x0:x1][hole > 0] = _fill(crop, hole)[hole > 0]
    return out


def _fill(crop: Pixels, hole: Mask) -> Pixels:
    scale = min(1.0, _LARGEST / max(hole.shape))
    if scale == 1.0:
        return np.asarray(cv2.inpaint(crop, hole, 3, cv2.INPAINT_TELEA), np.uint8)
    size = (max(2, round(hole.shape[1] * scale)), max(2, round(hole.shape[0] * scale)))
    # A small pixel counts as known only where no part of the object reaches into it.
    small_hole = np.where(np.asarray(cv2.resize(hole, size, interpolation=cv2.INTER_AREA)) > 0, 255, 0).astype(np.uint8)
    if (small_hole > 0).all():
        return np.asarray(cv2.inpaint(crop, hole, 3, cv2.INPAINT_TELEA), np.uint8)
    small = np.asarray(cv2.resize(crop, size, interpolation=cv2.INTER_AREA), np.uint8)
    filled = cv2.inpaint(small, small_hole, 3, cv2.INPAINT_TELEA)
    return np.asarray(cv2.resize(filled, hole.shape[::-1], interpolation=cv2.INTER_LINEAR), np.uint8)
