"""Glasses in a picture: whether a face wears any, and the pixels that have to go with them.

The network of face parts sees strong frames and dark lenses, but hardly ever a thin wire. So the bridge is looked for,
too: a thin dark line across the nose, between the eyes, where a bare face has none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convergebench.images.frame import Pixels
from convergebench.vision.face_parts import FaceParts
from convergebench.vision.faces import FaceMesh, Points
from convergebench.vision.networks import Mask

LEAST = 0.02
"""Least size of glasses that the network sees, as a share of the face's box."""
BRIDGE = 0.2
"""Least darkness of a line across the nose, as a share of the skin's brightness."""
DARK = 0.55
"""Lenses darker than this share of the cheeks hide the eyes."""
CONTRAST = 0.06
"""Difference from the skin nearby, as a share of its brightness, that makes a pixel part of a frame."""
MOST = 24
"""Most that a frame can take, in percent of the place where glasses sit."""


def eyewear_mask(image: Pixels, face: FaceMesh, parts: FaceParts) -> Mask | None:
    """The frame, or with dark lenses all of the glasses; None if the face wears none."""
    grey = _grey(image)
    glasses = parts.mask("glasses")
    seen = glasses.sum() > LEAST * max(1, face.box.area)
    if not seen and bridge_darkness(image, face) < BRIDGE:
        return None
    skin = parts.mask("skin") & ~grown(glasses, 3)
    brightness = float(np.median(grey[skin])) if skin.any() else 128.0
    eyes = _filled(image.shape, face.left_eye, face.right_eye)
    lenses = glasses & ~grown(eyes, max(2, round(0.03 * face.width)))
    if seen and lenses.any() and np.median(grey[lenses]) < DARK * brightness:
        return glasses
    if seen:  # the network sees lenses better than the bridge between them
        near = grown(glasses, max(2, round(0.03 * face.width))) | _around_the_eyes(image.shape, face, side=0.2)
    else:
        near = _around_the_eyes(image.shape, face, side=1.15)
    # lashes, the white of the eye and brows are thin and dark, too: they stay
    spared = grown(eyes, max(1, round(0.02 * face.width)))
    spared |= grown(_filled(image.shape, face.left_brow, face.right_brow), 1) & ~glasses
    lines, inside = _thin_lines(grey, face), near & ~spared
    if not inside.any():
        return None
    # wrinkles are lines, too; a frame is the darkest part of them
    frame = inside & (lines > max(CONTRAST * brightness, float(np.percentile(lines[inside], 100 - MOST))))
    return _long_parts(frame, face) if frame.any() else None


def bridge_darkness(image: Pixels, face: FaceMesh) -> float:
    """How dark the darkest line across the nose is, as a share of the skin's brightness there."""
    import cv2

    grey = _grey(image)
    left, right = face.left_eye, face.right_eye
    inner = left[np.argmax(left[:, 0])], right[np.argmin(right[:, 0])]
    apart = inner[1] - inner[0]
    length = float(np.hypot(*apart))
    if length < 6:
        return 0.0
    # an upright window on the nose: its columns run from eye to eye, its rows from the brows to below the eyes
    across, down = apart / length, np.array([-apart[1], apart[0]]) / length
    size = 32
    origin = (inner[0] + inner[1]) / 2 - across * 0.22 * length - down * 0.5 * length
    step_across, step_down = across * 0.44 * length / size, down * 1.0 * length / size
    move = np.array([[step_across[0], step_down[0], origin[0]], [step_across[1], step_down[1], origin[1]]], np.float64)
    window = cv2.warpAffine(
        grey, move, (size, size), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE
    )
    rows = np.median(window, axis=1)
    lines = cv2.morphologyEx(rows[:, None], cv2.MORPH_BLACKHAT, np.ones((11, 1), np.uint8))[:, 0]
    return float(lines.max() / max(1.0, float(np.median(rows))))


def grown(mask: Mask, reach: int) -> Mask:
    """The mask with a margin of so many pixels."""
    import cv2

    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    return np.asarray(cv2.dilate(mask.astype(np.uint8), kernel) > 0)


def _grey(image: Pixels) -> NDArray[np.float32]:
    import cv2

    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.float32)


def _thin_lines(grey: NDArray[np.float32], face: FaceMesh) -> NDArray[np.float32]:
    """How much darker (or, counting less, brighter) each pixel is than what is around a thin line."""
    import cv2

    thickness = 2 * max(2, round(0.03 * face.width)) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (thickness, thickness))
    dark = cv2.morphologyEx(grey, cv2.MORPH_BLACKHAT, kernel)
    bright = cv2.morphologyEx(grey, cv2.MORPH_TOPHAT, kernel)
    return np.asarray(np.maximum(dark, 0.6 * bright), np.float32)


def _around_the_eyes(shape: tuple[int, ...], face: FaceMesh, *, side: float) -> Mask:
    """From above the eyes to the middle of the cheeks, so many distances between the eyes to each side of the nose."""
    both = np.concatenate([face.left_eye, face.right_eye])
    left, right = face.left_eye.mean(axis=0), face.right_eye.mean(axis=0)
    apart = right - left
    length = max(1e-6, float(np.hypot(*apart)))
    across, down = apart / length, np.array([-apart[1], apart[0]]) / length
    middle = both.mean(axis=0)
    corners = [
        middle + across * sign * side * length + down * level * length
        for sign, level in ((-1, -0.36), (1, -0.36), (1, 0.5), (-1, 0.5))
    ]
    return _filled(shape, np.array(corners, np.float32))


def _long_parts(frame: Mask, face: FaceMesh) -> Mask:
    """Without specks: pores and wrinkles are short."""
    import cv2

    count, labels, stats, _ = cv2.connectedComponentsWithStats(frame.astype(np.uint8), connectivity=8)
    long = [
        number
        for number in range(1, count)
        if max(stats[number, cv2.CC_STAT_WIDTH], stats[number, cv2.CC_STAT_HEIGHT]) > 0.08 * face.width
    ]
    return np.isin(labels, long)


def _filled(shape: tuple[int, ...], *outlines: Points) -> Mask:
    import cv2

    mask = np.zeros(shape[:2], np.uint8)
    for outline in outlines:
        cv2.fillConvexPoly(mask, cv2.convexHull(np.round(outline).astype(np.int32)), 1)
    return mask > 0
