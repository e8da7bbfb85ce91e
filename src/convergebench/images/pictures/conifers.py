"""Conifers, near and far: silhouettes with branches, and bark for those that stand close."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.pictures.colour import linear, mix
from convergebench.images.pictures.noise import fractal
from convergebench.images.pictures.sheet import Colours, Plane, Sheet
from convergebench.images.pictures.strokes import Strokes


def spruce(layer: Strokes, rng: np.random.Generator, *, foot: tuple[float, float], tall: float) -> None:
    """One spruce as coverage: a tapering trunk and drooping, ragged branches."""
    x, y = foot
    layer.line(np.array([(x, y), (x + tall * 0.01 * rng.normal(), y - tall)]), tall * 0.018)
    tiers = int(np.clip(8 + tall * 34, 10, 48))
    widest = tall * rng.uniform(0.15, 0.21)
    for tier in range(tiers):
        t = max(0.0, (tier + rng.uniform(-0.3, 0.3)) / tiers)
        reach = widest * (0.06 + t**0.85) * (1 - 0.75 * max(0.0, t - 0.86) / 0.14)
        level = y - tall * (1 - 0.93 * t)
        for side in (-1, 1):
            out = reach * rng.uniform(0.65, 1.1) * side
            droop = abs(out) * rng.uniform(0.22, 0.5)
            thick = tall * 0.93 / tiers * rng.uniform(0.7, 1.15)
            path = [
                (x, level - thick * 0.5),
                (x + out * 0.55, level + droop * 0.25 - thick * 0.2),
                (x + out, level + droop),
                (x + out * 0.72, level + droop * 0.8 + thick * 0.55),
                (x + out * 0.4, level + thick * 0.4),
                (x + out * 0.3, level + droop * 0.35 + thick * 0.75),
                (x, level + thick * 0.7),
            ]
            layer.shape(np.array(path))


def forest_line(sheet: Sheet, light: Colours, shore: float, haze: Plane, rng: np.random.Generator) -> Colours:
    """A belt of spruces along a shore."""
    texture = fractal(sheet, "needles", 14.0, octaves=5, gain=0.75)
    for depth in range(2):
        layer = Strokes(sheet)
        size = (0.10, 0.19)[depth]
        places = np.sort(rng.uniform(-sheet.right - 0.1, sheet.right + 0.1, int((95, 46)[depth] * sheet.right)))
        gap = rng.uniform(-0.8, 0.8)
        for x in places:
            if depth == 1 and abs(x - gap) < 0.55:
                continue
            tall = size * rng.uniform(0.5, 1.15)
            spruce(layer, rng, foot=(float(x), shore + 0.004 + 0.006 * depth), tall=float(tall))
        layer.line(np.array([(-sheet.right - 0.1, shore), (sheet.right + 0.1, shore)]), 0.02)
        tone = mix(linear("1a2a1c")[:, None, None], linear("3d5a34")[:, None, None], np.clip(0.4 + 0.6 * texture, 0, 1))
        tone = mix(tone * np.float32(0.75), haze[:, None, None] * np.float32(0.8), (0.22, 0.06)[depth])
        light = layer.over(light, tone)
    return light


def blurred(cover: Plane, radius: float) -> Plane:
    """Coverage softened by mist."""
    return cover if radius < 0.4 else np.asarray(cv2.GaussianBlur(cover, (0, 0), radius), dtype=np.float32)
