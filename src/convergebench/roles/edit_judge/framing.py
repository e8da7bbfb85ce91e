"""One picture found inside another, at any magnification: for zooming in and for extending the canvas."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np

from convergebench.images.frame import Frame, Pixels, Plane
from convergebench.metrics._planes import luma

SMALL = 128
"""Longer side of the picture that is searched."""
STEP, STEPS = 1.05, 23
"""Ratio of magnifications that are tried, and how many: up to about three times."""
LEAST_SIDE = 24


class Found(NamedTuple):
    """Where the piece is in the whole picture."""

    score: float
    """Correlation at the best place."""
    magnification: float
    """Width of the whole over the width of the piece; 1: the piece fills it."""
    left: float
    """In shares of the whole, as are the others."""
    top: float
    right: float
    bottom: float


@lru_cache(4)
def find_inside(piece: Frame, whole: Frame) -> Found:
    """The place of `piece` in `whole`, by correlation at all magnifications from 1 to 3."""
    factor = SMALL / max(whole.size)
    target = _resized(luma(whole), whole.width * factor, whole.height * factor)
    height, width = target.shape
    best = Found(-1.0, 1.0, 0.0, 0.0, 1.0, 1.0)
    base = min(width / piece.width, height / piece.height)
    for power in range(STEPS):
        across, down = (max(1, round(side * base / STEP**power)) for side in piece.size)
        if min(across, down) < LEAST_SIDE:
            break
        template = _resized(luma(piece), across, down)
        agreement = cv2.matchTemplate(target, template, cv2.TM_CCOEFF_NORMED)
        _, score, _, (left, top) = cv2.minMaxLoc(agreement)
        # a smaller piece agrees more easily, so it must agree plainly better
        if np.isfinite(score) and score > best.score + 0.005:
            place = left / width, top / height, (left + across) / width, (top + down) / height
            best = Found(float(score), min(width / across, height / down), *place)
    return best


def matched(piece: Frame, whole: Frame, found: Found) -> tuple[Frame, Frame]:
    """Both on the piece's grid: the piece, and the part of the whole picture that shows the same."""
    left, right = (round(share * whole.width) for share in (found.left, found.right))
    top, bottom = (round(share * whole.height) for share in (found.top, found.bottom))
    part = whole.pixels[top : max(bottom, top + 1), left : max(right, left + 1)]
    size = min(piece.width, part.shape[1]), min(piece.height, part.shape[0])
    return Frame(_fitted(piece.pixels, size)), Frame(_fitted(part, size))


def _resized(plane: Plane, width: float, height: float) -> Plane:
    size = max(1, round(width)), max(1, round(height))
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA), np.float32)


def _fitted(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    if pixels.shape[1::-1] == size:
        return np.ascontiguousarray(pixels)
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
