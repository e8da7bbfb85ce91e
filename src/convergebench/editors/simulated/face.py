"""Finds the face: an oval of skin with two dark eyes and a mouth, searched at several sizes.

A picture without a face gets the layout of a centred portrait, so that instructions about a person always work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.simulated.pixels import Pixels

Plane = NDArray[np.float32]

_WORKING_SIZE = 80
_SIZES = tuple(0.12 * 1.2**step for step in range(9))
"""Searched face widths, as shares of the shorter side."""
_CERTAIN = 0.42
"""Lowest score of a face; calibrated on portraits and pictures without people."""


@dataclass(frozen=True, slots=True)
class FaceLayout:
    """A face by its eye line, in pixels. `width` is from ear to ear."""

    x: float
    eyes: float
    width: float
    score: float | None
    """How face-like the region is; None if no face was found and a portrait layout is assumed."""

    @property
    def brow(self) -> float:
        """Where a hat's brim sits."""
        return self.eyes - 0.36 * self.width

    @property
    def lip(self) -> float:
        """Between nose and mouth."""
        return self.eyes + 0.385 * self.width

    @property
    def mouth(self) -> float:
        """The line between the lips."""
        return self.eyes + 0.55 * self.width

    @property
    def chin(self) -> float:
        """The lower end of the face."""
        return self.eyes + 0.85 * self.width


def find_face(pixels: Pixels) -> FaceLayout:
    """The most face-like region, or the layout of a centred portrait."""
    height, width = pixels.shape[:2]
    scale = min(1.0, _WORKING_SIZE / min(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    skin, grey = _skin(small), np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), np.float32)
    best = (0.0, 0.0, 0.0, 0.0)
    for share in _SIZES:
        across = share * min(size)
        if across < 7:
            continue
        oval, marks = _templates(round(across))
        score = cv2.filter2D(skin, cv2.CV_32F, oval, borderType=cv2.BORDER_REPLICATE)
        features = cv2.filter2D(_darkness(grey, 0.22 * across), cv2.CV_32F, marks, borderType=cv2.BORDER_REPLICATE)
        score = score + 0.31 * np.clip(features, -0.5, 0.7)
        score = np.asarray(score, np.float32) * _prior(size[0], size[1]) * _layout(size[0], size[1], share)
        row, column = np.unravel_index(int(np.argmax(score)), score.shape)
        value = float(score[row, column]) * (1 + 0.03 * math.log(share / _SIZES[0]))
        if value > best[0]:
            best = (value, float(column), float(row), across)
    value, x, y, across = best
    x, across = _trim(small, skin, (x, y, across))
    if value < _CERTAIN:
        return FaceLayout(x=width / 2, eyes=0.40 * height, width=0.36 * min(width, height), score=None)
    return FaceLayout(x=(x + 0.5) / scale, eyes=(y + 0.5) / scale, width=across / scale, score=value)


def _trim(small: Pixels, skin: Plane, place: tuple[float, float, float]) -> tuple[float, float]:
    """Middle and width of the face by the extent of its skin, including a shaded half if it is clear."""
    x, _, across = place
    whole = _span(_hue(small), place, reach=1.3)
    if whole is not None and across < whole[1] < min(1.7 * across, 0.47 * min(small.shape[:2])):
        return whole
    lit = _span(skin, place, reach=0.7)
    if lit is None:
        return x, across
    shift = float(np.clip(lit[0] - x, -0.08 * across, 0.08 * across))
    return x + shift, float(np.clip(lit[1], 0.85 * across, 1.1 * across))


def _span(skin: Plane, place: tuple[float, float, float], *, reach: float) -> tuple[float, float] | None:
    """(middle, width) of the run of skin around a place, from the eyes down to the mouth; None if there is none."""
    x, y, across = place
    rows = skin[max(0, int(y)) : max(1, int(y + 0.5 * across) + 1)]
    left, right = max(0, int(x - reach * across)), int(x + reach * across) + 1
    middle = rows[:, max(0, int(x - 0.2 * across)) : int(x + 0.2 * across) + 1]
    if across <= 0 or not middle.size:
        return None
    inside = (rows[:, left:right] > 0.3 * float(np.median(middle))).mean(axis=0) >= 0.5
    middle_column = min(int(x) - left, inside.size - 1)
    gaps = np.flatnonzero(~inside)
    start = int(gaps[gaps < middle_column].max(initial=-1)) + 1
    stop = int(gaps[gaps > middle_column].min(initial=inside.size))
    if not inside[middle_column] or stop - start < 3:
        return None
    return left + (start + stop - 1) / 2, float(stop - start)


def _skin(small: Pixels) -> Plane:
    """How skin-like each pixel is, 0 … 1, by its chroma."""
    colour = np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2YCrCb), np.float32)
    luma, red, blue = colour[..., 0], colour[..., 1] - 128, colour[..., 2] - 128
    # Chroma grows with light, so shadowed skin is compared by the direction of its chroma as well.
    strength = np.sqrt(red**2 + blue**2) + 1
    direction = np.abs(np.arctan2(-blue, red) - 0.62) / 0.6
    size = np.where(strength < 39, (39 - strength) / 37, (strength - 39) / 36)
    likely = np.exp(-(direction**2) - size**2) * np.clip((luma - 34) / 33, 0, 1)
    return np.asarray(np.where(red > 2, likely, 0) ** 2, np.float32)


def _hue(small: Pixels) -> Plane:
    """How skin-like each pixel's hue is, light or dark."""
    colour = np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2YCrCb), np.float32)
    red, blue = colour[..., 1] - 128, colour[..., 2] - 128
    direction = np.abs(np.arctan2(-blue, red) - 0.62) / 0.6
    return np.asarray(np.where(red > 3, np.exp(-(direction**2)), 0), np.float32)


def _darkness(grey: Plane, around: float) -> Plane:
    """How much darker each pixel is than its surroundings, −1 … 1."""
    ground = np.asarray(cv2.GaussianBlur(grey, (0, 0), around), np.float32)
    # eyes have less contrast on dark skin
    return np.asarray(np.clip((ground - grey) / (0.4 * ground + 10), -1, 1), np.float32)


@lru_cache(maxsize=8)
def _prior(width: int, height: int) -> Plane:
    """Prior: faces are mostly in the upper two thirds, seldom at the edge."""
    across = 1 - 0.35 * np.abs(np.linspace(-1, 1, width)) ** 2
    down = np.interp(np.linspace(0, 1, height), [0, 0.12, 0.5, 1], [0.85, 1, 1, 0.6])
    return np.asarray(np.outer(down, across), np.float32)


@lru_cache(maxsize=64)
def _layout(width: int, height: int, share: float) -> Plane:
    """Weight for typical portrait positions: a lit neck or shoulder can look like a second face."""
    y, x = np.mgrid[0:height, 0:width]
    near = np.exp(-(((x / width - 0.5) / 0.12) ** 2) - ((y / height - 0.42) / 0.08) ** 2)
    return np.asarray(1 + 0.8 * near * math.exp(-((math.log(share / 0.36) / 0.35) ** 2)), np.float32)


@lru_cache(maxsize=32)
def _templates(across: int) -> tuple[Plane, Plane]:
    """Two kernels around the point between the eyes: skin inside, none outside; dark eyes and mouth, light cheeks."""
    reach = round(across * 1.35)
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1].astype(np.float32) / across

    def oval(grow: float) -> NDArray[np.bool_]:
        return np.asarray((x / (0.5 * grow)) ** 2 + ((y - 0.2) / (0.64 * grow)) ** 2 <= 1)

    def spot(cx: float, cy: float, size: float) -> Plane:
        bump = np.exp(-(((x - cx) / size) ** 2 + ((y - cy) / (0.7 * size)) ** 2))
        return np.asarray(bump / bump.sum(), np.float32)

    inside = oval(0.92)
    ring = oval(1.4) & ~oval(1.08) & (y < 0.6)
    skin = inside / max(1, inside.sum()) - 0.75 * ring / max(1, ring.sum())
    marks = 0.55 * (spot(-0.21, 0, 0.09) + spot(0.21, 0, 0.09)) + 0.30 * spot(0, 0.56, 0.13)
    light = spot(-0.21, 0.28, 0.1) + spot(0.21, 0.28, 0.1) + 0.8 * spot(0, 0.05, 0.07) + 0.8 * spot(0, -0.25, 0.14)
    return np.asarray(skin, np.float32), np.asarray(marks - 0.36 * light, np.float32)
