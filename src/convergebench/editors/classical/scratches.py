"""Scratches and dust in a picture: thin marks, nearly white or nearly black, that stand out from what is around them.

An opening (closing) with a small disk removes every bright (dark) thing thinner than it; what it removed is thin.
A scratch covers what was there with white or black, to the same degree in every channel: its opacity, the share of the
way from the surroundings to white or black. Natural thin things mostly have a colour of their own, or change only a
part of that way. Scratches are what of the thin survives an opening with a line of some direction; dust is what is
compact. Both are held against the thin structure that the surroundings have anyway (hair, grass). White wires, twigs
and letters look like scratches and are taken for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.classical.noise import noise_level
from convergebench.images.frame import Pixels, Plane

Mask = NDArray[np.bool_]
DIRECTIONS = 16
LEAST_CONTRAST = 22.0
"""Levels by which a mark differs at least from its surroundings, on the mean of the channels."""
ROOM = 40.0
"""Levels that a channel must have left to white or black for its opacity to count."""
BRIGHT_OPACITY, DARK_OPACITY = 0.5, 0.6
"""Least opacity; more of dark marks, since thin shadows and gaps are common."""
TIMES_NOISE = 4.0
SMOOTHED = 3.0
"""Noise in levels from which on the picture is smoothed a little first."""
TIMES_TEXTURE = 9.0
"""How far a mark stands out from the mean thin structure around it."""
UNEVEN = 0.8
"""Share of the range of the surroundings that is taken off: a thin line at an edge is often part of it."""
LIKELY = 0.35
"""Score from which on what is connected with a scratch belongs to it."""
SURROUNDINGS = 31
"""Side of the surroundings, in units of the width."""


@dataclass(frozen=True, slots=True)
class ScratchSizes:
    """What counts as thin, long and compact, in pixels of this picture."""

    width: int
    length: int
    dust: int

    @classmethod
    def of(cls, pixels: Pixels) -> ScratchSizes:
        """Sizes that grow with the picture."""
        side = min(pixels.shape[:2])
        width = max(3, 2 * round(side / 340) + 1)
        return cls(width, max(9, 2 * round(side / 50) + 1), max(4, 2 * width * width))


def find_damage(pixels: Pixels, sensitivity: float = 1.0, *, noise: float | None = None) -> Mask:
    """Where there are scratches and dust; `sensitivity` above 1 finds fainter ones and takes more for them.

    `noise` is what the picture had before it was denoised, which leaves single pixels that look like dust.
    """
    if min(pixels.shape[:2]) < 16:
        return np.zeros(pixels.shape[:2], np.bool_)
    sizes = ScratchSizes.of(pixels)
    noise = noise_level(pixels) if noise is None else noise
    seen = pixels.astype(np.float32)
    if noise > SMOOTHED:
        seen = np.asarray(cv2.GaussianBlur(seen, (0, 0), 0.5), np.float32)
    least = max(LEAST_CONTRAST, TIMES_NOISE * noise)
    found = np.zeros(pixels.shape[:2], np.bool_)
    for plane, opacity in ((seen, BRIGHT_OPACITY), (255 - seen, DARK_OPACITY)):
        score = sensitivity * _score(plane, least, opacity, sizes)
        found |= _scratches(score, sizes) | _dust(score / 1.5, sizes)
    return found


def _score(plane: Plane, least: float, opaque: float, sizes: ScratchSizes) -> Plane:
    """How much each pixel looks like part of a bright mark: from 1 on it does."""
    disk = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (sizes.width,) * 2)
    around = np.asarray(cv2.morphologyEx(plane, cv2.MORPH_OPEN, disk), np.float32)
    thin = plane - around
    white = np.quantile(plane.reshape(-1, 3)[::7], 0.995, axis=0).astype(np.float32)
    room = white - around
    # a channel that is nearly white already cannot show how much of it is covered
    covered = np.where(room > ROOM, thin / np.maximum(room, ROOM), 1.0)
    opacity = np.where((room > ROOM).any(axis=2), covered.min(axis=2), 0.0)
    contrast = thin.mean(axis=2)
    light = around.mean(axis=2)
    contrast = contrast - np.float32(UNEVEN) * (cv2.dilate(light, disk) - cv2.erode(light, disk))
    threshold = np.maximum(least, TIMES_TEXTURE * _texture(thin.mean(axis=2), sizes))
    return np.asarray(np.minimum(contrast / threshold, opacity / np.float32(opaque)), np.float32)


def _texture(thin: Plane, sizes: ScratchSizes) -> Plane:
    """Mean thin structure of the surroundings, without what stands out most: a scratch must not hide itself."""
    window = SURROUNDINGS * sizes.width // 3 | 1
    mean = cv2.blur(thin, (window, window))
    return np.asarray(cv2.blur(np.minimum(thin, 2 * mean), (window, window)), np.float32)


def _scratches(score: Plane, sizes: ScratchSizes) -> Mask:
    longest = np.full_like(score, -1.0)
    wide = cv2.dilate(score, np.ones((3, 3), np.uint8))  # a scratch is rarely straight to the pixel
    for line in _lines(sizes.length):
        np.maximum(longest, cv2.morphologyEx(wide, cv2.MORPH_OPEN, line), out=longest)
    return _holding((longest > LIKELY) & (score > LIKELY), longest > 1, least=2 * sizes.length)


def _dust(score: Plane, sizes: ScratchSizes) -> Mask:
    """Compact marks: small, about as wide as high, and filled."""
    count, parts, boxes, _ = cv2.connectedComponentsWithStats((score > 0.5).astype(np.uint8), connectivity=8)
    width, height, area = boxes[:, 2], boxes[:, 3], boxes[:, 4]
    compact = (area >= 3) & (area <= sizes.dust) & (np.maximum(width, height) <= 2.5 * np.minimum(width, height))
    compact &= area >= 0.45 * width * height
    compact[0] = False
    sure = np.zeros(count, np.bool_)
    sure[np.unique(parts[score > 1])] = True
    return np.asarray((compact & sure)[parts], np.bool_)


def _holding(likely: Mask, sure: Mask, least: int) -> Mask:
    """Connected parts of `likely` that hold something of `sure` and extend over `least` pixels."""
    count, parts, boxes, _ = cv2.connectedComponentsWithStats(likely.astype(np.uint8), connectivity=8)
    kept = np.zeros(count, np.bool_)
    kept[np.unique(parts[sure & likely])] = True
    kept &= np.hypot(boxes[:, 2], boxes[:, 3]) >= least
    kept[0] = False
    return np.asarray(kept[parts], np.bool_)


@cache
def _lines(length: int) -> list[NDArray[np.uint8]]:
    found = []
    for number in range(DIRECTIONS):
        angle = np.pi * number / DIRECTIONS
        element = np.zeros((length, length), np.uint8)
        half = (length - 1) / 2
        across, down = half * np.cos(angle), half * np.sin(angle)
        ends = [(round(half + sign * across), round(half - sign * down)) for sign in (-1, 1)]
        cv2.line(element, ends[0], ends[1], 1, 1)
        found.append(element)
    return found
