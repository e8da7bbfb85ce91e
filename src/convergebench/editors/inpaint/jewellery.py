"""Earrings in a picture: where ear lobes are, and what hangs from them.

The network of face parts knows earrings, but sees few. So small patches below the lobes are looked for, too, that
differ from everything around them.
"""

from __future__ import annotations

import numpy as np

from convergebench.editors.inpaint.lab import to_lab
from convergebench.images.frame import Pixels
from convergebench.vision.face_parts import FaceParts
from convergebench.vision.faces import FaceMesh, Points
from convergebench.vision.networks import Mask

TURNED = 0.28
"""An ear is out of sight if the face reaches so little of its width to that side of the nose."""
CONTRAST = 22.0
"""Difference of colours (Lab) between a patch and its rim that makes it stand out."""
SIZES = 0.0015, 0.05
"""Least and greatest area of a patch, as shares of the square of the face's width."""


def lobes(face: FaceMesh, parts: FaceParts) -> tuple[Points | None, Points | None]:
    """The ear lobes on the left and right of the picture; None for an ear that is turned away."""
    found = []
    for sign in (-1, 1):
        guess = _beside_the_jaw(face, sign)
        found.append(None if guess is None else _end_of_ear(face, parts, guess))
    return found[0], found[1]


def earring_mask(image: Pixels, face: FaceMesh, parts: FaceParts) -> Mask | None:
    """The pixels of earrings, or None if there are none."""
    seen = parts.mask("earring")
    mask = seen if seen.sum() > 0.0015 * face.width**2 else np.zeros_like(seen)
    for lobe in lobes(face, parts):
        if lobe is not None:
            mask = mask | _hanging(image, face, lobe)
    return mask if mask.any() else None


def _beside_the_jaw(face: FaceMesh, sign: int) -> Points | None:
    """Where a lobe should be: at the height of the tip of the nose, a little outside the face's outline."""
    left, right = face.left_eye.mean(axis=0), face.right_eye.mean(axis=0)
    middle, apart = (left + right) / 2, right - left
    across = apart / max(1e-6, float(np.hypot(*apart)))
    down = np.array([-across[1], across[0]])
    level = float((face.nose_bridge[-1] - middle) @ down) + 0.02 * face.width
    places = sign * ((face.outline - middle) @ across)
    heights = (face.outline - middle) @ down
    candidates = np.flatnonzero((places > 0) & (np.abs(heights - level) < 0.2 * face.width))
    if not candidates.size or float(places[candidates].max()) < TURNED * face.width:
        return None
    nearest = candidates[np.argmin(np.abs(heights[candidates] - level))]
    return np.asarray(middle + down * level + sign * across * (places[nearest] + 0.06 * face.width), np.float32)


def _end_of_ear(face: FaceMesh, parts: FaceParts, guess: Points) -> Points:
    """The lowest pixels of an ear that is seen near the guess; else the guess."""
    rows, columns = np.nonzero(parts.mask("left ear", "right ear"))
    near = np.hypot(columns - guess[0], rows - guess[1]) < 0.35 * face.width
    if near.sum() < 0.003 * face.width**2:
        return guess
    rows, columns = rows[near], columns[near]
    lowest = rows >= np.percentile(rows, 92)
    return np.array([columns[lowest].mean(), rows.max()], np.float32)


def _hanging(image: Pixels, face: FaceMesh, lobe: Points) -> Mask:
    """What hangs below a lobe and differs in colour from both sides of it (GrabCut); empty if nothing does."""
    import cv2

    wide = face.width
    height, width = image.shape[:2]
    top, bottom = max(0, round(lobe[1] - 0.12 * wide)), min(height, round(lobe[1] + 0.6 * wide))
    left, right = max(0, round(lobe[0] - 0.3 * wide)), min(width, round(lobe[0] + 0.3 * wide))
    found = np.zeros((height, width), np.bool_)
    window = image[top:bottom, left:right]
    column, row = float(lobe[0]) - left, float(lobe[1]) - top
    start, end = round(column - 0.13 * wide), round(column + 0.13 * wide)
    inside = (
        slice(max(1, round(row - 0.03 * wide)), max(2, round(row + 0.42 * wide))),
        slice(max(1, start), max(2, end)),
    )
    marks = np.full(window.shape[:2], cv2.GC_BGD, np.uint8)
    marks[inside] = cv2.GC_PR_FGD
    if window.shape[0] < 12 or window.shape[1] < 12 or (marks == cv2.GC_BGD).sum() < 50 or marks[inside].size < 20:
        return found
    cv2.setRNGSeed(0)  # its clusters begin at random colours
    cv2.grabCut(window, marks, (0, 0, 1, 1), np.zeros((1, 65)), np.zeros((1, 65)), 4, cv2.GC_INIT_WITH_MASK)
    count, labels, stats, _ = cv2.connectedComponentsWithStats((marks == cv2.GC_PR_FGD).astype(np.uint8))
    lab = to_lab(window)
    for number in range(1, count):
        part = labels == number
        ring = (cv2.dilate(part.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0) & ~part
        apart = float(np.linalg.norm(np.median(lab[part], axis=0) - np.median(lab[ring], axis=0)))
        fits = SIZES[0] * wide**2 < stats[number, cv2.CC_STAT_AREA] < SIZES[1] * wide**2
        if fits and apart > CONTRAST and stats[number, cv2.CC_STAT_TOP] - row < 0.2 * wide:
            found[top:bottom, left:right] |= part
    return found
