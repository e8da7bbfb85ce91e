"""Fills a hole in a picture with what a learned network (MI-GAN, trained on Places2) makes up."""

from __future__ import annotations

import numpy as np

from convergebench.errors import StudyError
from convergebench.vision.networks import Mask, Picture, check_picture, session

SIDE = 512
"""Pixels of the square on which the network works."""
AROUND = 0.5
"""What is shown around a hole on each side, as a share of the hole's longer side."""


def fill(image: Picture, mask: Mask) -> Picture:
    """The picture with the masked pixels filled; all others stay exactly as they are.

    The network sees the hole and its surroundings; a square of more than 512 pixels is reduced for it, so a large hole
    is filled with less detail than its surroundings have.
    """
    check_picture(image)
    if mask.dtype != np.bool_ or mask.shape != image.shape[:2]:
        raise StudyError(f"the mask must be a bool array of {image.shape[0]} × {image.shape[1]}")
    if not mask.any():
        return image.copy()
    filled = image.copy()
    window = _window(mask)
    hole = mask[window]
    filled[window][hole] = _filled(image[window], hole)[hole]
    return filled


def _window(mask: Mask) -> tuple[slice, slice]:
    """The hole with its surroundings: as square as the picture allows, and no smaller than the network's square."""
    spans = []
    for axis in (1, 0):
        places = np.flatnonzero(mask.any(axis))
        spans.append((int(places[0]), int(places[-1]) + 1))
    longest = max(end - start for start, end in spans)
    side = max(SIDE, round(longest * (1 + 2 * AROUND)))
    slices = []
    for (start, end), length in zip(spans, mask.shape, strict=True):
        size = min(side, length)
        first = min(max(0, (start + end - size) // 2), length - size)
        slices.append(slice(first, first + size))
    return slices[0], slices[1]


def _filled(image: Picture, hole: Mask) -> Picture:
    import cv2

    height, width = hole.shape
    scale = SIDE / max(height, width)
    if scale < 1:
        sizes = max(1, round(width * scale)), max(1, round(height * scale))
        small = np.asarray(cv2.resize(image, sizes, interpolation=cv2.INTER_AREA), np.uint8)
        # a pixel that is partly in the hole is filled
        small_hole = cv2.resize(hole.astype(np.float32), sizes, interpolation=cv2.INTER_AREA) > 0
        answer = _run(small, small_hole)
        return np.asarray(cv2.resize(answer, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)
    return _run(image, hole)


def _run(image: Picture, hole: Mask) -> Picture:
    # the network blends its answer into three pixels inside the hole's edge: what was there must not show through
    image = _covered(image, hole)
    keep = np.where(hole, 0, 255).astype(np.uint8)[None, None]
    pixels = np.ascontiguousarray(image.transpose(2, 0, 1)[None])
    (answer,) = session("mi-gan").run(["result"], {"image": pixels, "mask": keep})
    return np.asarray(answer[0].transpose(1, 2, 0), np.uint8)


def _covered(image: Picture, hole: Mask) -> Picture:
    """Each pixel of the hole has the colour of the nearest one outside."""
    import cv2

    if hole.all():
        return np.zeros_like(image)
    _, nearest = cv2.distanceTransformWithLabels(hole.astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    outside = np.zeros((int(nearest.max()) + 1, 3), np.uint8)
    outside[nearest[~hole]] = image[~hole]
    return np.asarray(outside[nearest])
