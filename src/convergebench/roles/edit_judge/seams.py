"""Traces of pasting: new straight edges along rows and columns, and a light rim around what was changed."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Frame, Plane
from convergebench.metrics._lab import lab
from convergebench.metrics._planes import luma
from convergebench.metrics._region import Mask

STEP, OBJECT = 2.0, 18.0
"""Steps of L*, a* or b* from one pixel to the next, beyond what was there before: from the first on they are part of an
edge, from the second on rather of a new thing's outline than of a tone that does not fit."""
KEPT = 0.6
"""Least similarity to the picture before on both sides of a seam: it runs through what is shown, and not around it."""
ALONE = 2.0
"""How much stronger it is than the steps beside it: in texture and at soft outlines there are others."""
GAP = 4
"""Pixels by which an edge may be interrupted."""
ALONG = 11
"""Pixels along an edge over which steps are averaged; texture does not last so long."""
TOUCHED = 6.0
"""Colour change (ΔE) of a pixel that belongs to the changed shape."""
RIM = 14.0
"""Levels by which a rim is lighter than both of its sides."""
RIM_WIDTH = 7


def longest_seam(after: Frame, before: Frame, similarity: Plane) -> float:
    """Length of the longest new edge along a row or a column, as a share of the shorter side; frames of one size.

    `similarity` is the local similarity of the two, with 0 where nothing is to be looked for.
    """
    planes = [(one, other) for one, other in zip(lab(after), lab(before), strict=True)]
    down = _longest(planes, similarity)
    across = _longest([(one.T, other.T) for one, other in planes], similarity.T)
    return max(down, across) / min(before.size)


def rim_share(after: Frame, before: Frame, place: Mask) -> float:
    """Share of the changed shape's outline along which there is a new rim, less the share of such lines inside it."""
    planes = zip(lab(after), lab(before), strict=True)
    touched = np.sqrt(sum(np.square(one - other) for one, other in planes)) > TOUCHED
    shape = cv2.morphologyEx((touched & place).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    contours, _ = cv2.findContours(shape, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = np.zeros_like(shape)
    cv2.drawContours(outline, [one for one in contours if len(one) > 20], -1, 1, 1)
    if not outline.any():
        return 0.0
    rims = _ridges(luma(after)) - _ridges(luma(before)) > RIM
    near = cv2.dilate(rims.astype(np.uint8), np.ones((3, 3), np.uint8))
    inside = cv2.erode(shape, np.ones((9, 9), np.uint8)) > 0
    return float(near[outline > 0].mean()) - (float(near[inside].mean()) if inside.any() else 0.0)


def border_step(frame: Frame, box: tuple[float, float, float, float]) -> float:
    """Mean step across the sides of a box (in shares of the frame) that lie inside, over the strongest of all lines.

    The largest of the four sides; 1 where nothing is to be seen. The box is known to a pixel or two only.
    """
    plane = lab(frame).lightness
    left, top, right, bottom = box
    worst = 1.0
    for lines, places, ends in ((plane, (left, right), (top, bottom)), (plane.T, (top, bottom), (left, right))):
        length, across = lines.shape
        part = lines[round(ends[0] * length) : max(round(ends[1] * length), 1)]
        steps = np.abs(np.diff(part, axis=1)).mean(axis=0) if part.size else np.zeros(across)
        for place in places:
            middle, near = round(place * across), round(0.02 * across) + 1
            if near < middle < across - near:
                here = float(steps[middle - near : middle + near].max())
                # a window frame has straight edges too, and many of them
                worst = max(worst, here / max(float(np.quantile(steps, 0.97)), 0.5))
    return worst


def _ridges(plane: Plane) -> Plane:
    """How far each pixel is above what is left when thin light lines are taken out; dark outlines are often natural."""
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (RIM_WIDTH, RIM_WIDTH))
    return np.asarray(cv2.morphologyEx(plane, cv2.MORPH_TOPHAT, kernel), np.float32)


def _longest(planes: Sequence[tuple[Plane, Plane]], similarity: Plane) -> int:
    """Pixels of the longest new edge down a column."""
    kept = _along(np.minimum(_shifted(similarity, 5), _shifted(similarity, -5))[:, 1:]) > KEPT
    # an edge of lightness may become one of colour, so the edges before are those of all planes
    before = np.max([np.abs(_along(np.diff(other, axis=1))) for _, other in planes], axis=0)
    there = cv2.dilate(before, np.ones((1, 5), np.uint8))
    longest = 0
    for one, other in planes:
        new = _along(np.diff(one - other, axis=1))
        strength = np.abs(new)
        beside = np.max([_shifted(strength, columns) for columns in (-4, -3, -2, 2, 3, 4)], axis=0)
        edge = (strength > STEP) & (strength < OBJECT) & (strength > ALONE * beside) & (strength > there) & kept
        # one direction at a time: along the side of a patch it is always the same
        longest = max(longest, _longest_run(edge & (new > 0)), _longest_run(edge & (new < 0)))
    return longest


def _along(steps: Plane) -> Plane:
    return np.asarray(cv2.blur(np.ascontiguousarray(steps), (1, ALONG)), np.float32)


def _shifted(plane: Plane, columns: int) -> Plane:
    return np.asarray(np.roll(plane, columns, axis=1), np.float32)


def _longest_run(edge: NDArray[np.bool_]) -> int:
    """Longest run down a column, short gaps closed."""
    kernel = np.ones((2 * GAP + 1, 1), np.uint8)
    closed = cv2.morphologyEx(edge.astype(np.uint8), cv2.MORPH_CLOSE, kernel).astype(np.int32)
    longest = running = np.zeros(closed.shape[1], np.int32)
    for row in closed:
        running = (running + 1) * row
        longest = np.maximum(longest, running)
    return int(longest.max(initial=0))
