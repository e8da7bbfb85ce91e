"""Damage to the surface of a print: folds, cracks that branch, worn edges. Where emulsion is lost, paper shows."""

from __future__ import annotations

import math
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.degradations._noise import clouds
from convergebench.degradations._psf import softened
from convergebench.images.frame import Pixels, Plane

_SHIFT = 4
_MOST_FOLDS, _MOST_CRACKS = 8, 40
Points = NDArray[np.float64]


class Surface(NamedTuple):
    """A damaged surface: the share of emulsion lost, and what light from one side does to its relief (mean about 1)."""

    lost: Plane
    relief: Plane

    def on(self, values: Plane, paper: Plane) -> Plane:
        """Display values of the print; `paper` (values that broadcast) shows where emulsion is lost."""
        lost, relief = (one[..., None] if values.ndim == 3 else one for one in self)
        return np.asarray((values + (paper - values) * lost) * relief, np.float32)


def damaged(shape: tuple[int, int], draw: np.random.Generator, *, severity: float, scale: float) -> Surface:
    """Folds, cracks and worn edges; their number and width grow with severity."""
    folds_draw, cracks_draw, ragged_draw, edge_draw = draw.spawn(4)
    ragged = 0.8 * clouds(shape, ragged_draw, cell=11 * scale, octaves=3)
    folded = _drawn(shape, folds(shape, folds_draw, count=folds_draw.uniform(0.6, 2.6) * severity))
    cracked = _drawn(shape, cracks(shape, cracks_draw, count=cracks_draw.uniform(5, 12) * severity, scale=scale))
    deep = min(severity, 2.5)
    lost = np.maximum(
        _worn(folded, ragged, width=2.2 * scale * (0.5 + 0.5 * deep)),
        _worn(cracked, ragged, width=0.95 * scale * (0.5 + 0.5 * deep)),
    )
    lost = np.maximum(lost, _edges(shape, edge_draw, ragged, width=9 * scale * deep, scale=scale))
    return Surface(np.float32(0.93) * lost, _relief(folded, scale, amount=0.1 * deep))


def folds(shape: tuple[int, int], draw: np.random.Generator, *, count: float) -> list[Points]:
    """Nearly straight lines across the whole print, or across a corner."""
    height, width = shape
    found: list[Points] = []
    for own in draw.spawn(_MOST_FOLDS)[: max(0, math.ceil(count - 0.5))]:
        if own.uniform() < 0.35:  # a dog-ear
            corner = np.array([own.integers(2) * width, own.integers(2) * height], np.float64)
            cut = own.uniform(0.1, 0.3, 2) * min(height, width)
            inward = np.where(corner > 0, -1, 1) * cut
            ends = corner + np.array([[inward[0], 0], [0, inward[1]]])
        elif own.uniform() < 0.5:
            ends = np.array([[0, own.uniform(0.15, 0.85) * height], [width, own.uniform(0.15, 0.85) * height]])
            ends[1, 1] = ends[0, 1] + 0.35 * (ends[1, 1] - ends[0, 1])  # people fold along the sides, more or less
        else:
            ends = np.array([[own.uniform(0.15, 0.85) * width, 0], [own.uniform(0.15, 0.85) * width, height]])
            ends[1, 0] = ends[0, 0] + 0.35 * (ends[1, 0] - ends[0, 0])
        along = np.linspace(0, 1, 48)[:, None]
        bent = np.cumsum(own.normal(0, 0.0012 * max(height, width), (48, 2)), axis=0)
        found.append(ends[0] + along * (ends[1] - ends[0]) + bent - along * bent[-1])
    return found


def cracks(shape: tuple[int, int], draw: np.random.Generator, *, count: float, scale: float) -> list[Points]:
    """Lines that creep, turn sharply and branch, as in brittle emulsion."""
    height, width = shape
    found: list[Points] = []
    for own in draw.spawn(_MOST_CRACKS)[: round(count)]:
        start = own.uniform(size=2) * (width, height)
        if own.uniform() < 0.5:  # most begin at the rim
            start[own.integers(2)] *= 0.02
            start = start if own.uniform() < 0.5 else np.array([width, height]) - start
        heading = math.atan2(height / 2 - start[1], width / 2 - start[0]) + own.normal(0, 0.9)
        found += _grown(start, heading, own, steps=int(own.integers(8, 34)), scale=scale, branches=2)
    return found


def _grown(
    start: Points, heading: float, draw: np.random.Generator, *, steps: int, scale: float, branches: int
) -> list[Points]:
    turns = draw.normal(0, 0.38, steps)
    lengths = draw.uniform(4, 15, steps) * scale
    way = heading + np.cumsum(turns) * 0.6 + 0.35 * turns
    moves = lengths[:, None] * np.stack([np.cos(way), np.sin(way)], axis=1)
    path = np.vstack([start, start + np.cumsum(moves, axis=0)])
    found = [path]
    if branches and steps > 6:
        place = int(draw.integers(2, steps - 2))
        side = way[place] + draw.choice((-1, 1)) * draw.uniform(0.5, 1.2)
        found += _grown(path[place], float(side), draw, steps=steps // 2, scale=scale, branches=branches - 1)
    return found


def _drawn(shape: tuple[int, int], lines: list[Points]) -> Pixels:
    """0 on the lines, 255 elsewhere."""
    canvas = np.full(shape, 255, np.uint8)
    for points in lines:
        cv2.polylines(canvas, [np.rint(points * 2**_SHIFT).astype(np.int32)], False, 0, 1, cv2.LINE_8, _SHIFT)
    return canvas


def _worn(lines: Pixels, ragged: Plane, *, width: float) -> Plane:
    """Lines of a width that varies from place to place, down to nothing."""
    if lines.all():
        return np.zeros(lines.shape, np.float32)
    away = cv2.distanceTransform(lines, cv2.DIST_L2, cv2.DIST_MASK_5)
    half = np.float32(width / 2) * (1 + ragged)
    return np.asarray(np.clip(half + np.float32(0.5) - away, 0, min(1.0, width)), np.float32)


def _edges(shape: tuple[int, int], draw: np.random.Generator, ragged: Plane, *, width: float, scale: float) -> Plane:
    """Emulsion rubbed off along the rim, most at the corners."""
    height, width_of = shape
    right, down = np.arange(width_of, dtype=np.float32) + 0.5, np.arange(height, dtype=np.float32) + 0.5
    across, below = np.minimum(right, width_of - right)[None, :], np.minimum(down, height - down)[:, None]
    away = np.minimum(across, below) + np.float32(0.25) * np.minimum(np.maximum(across, below), np.float32(8 * width))
    lumps = clouds(shape, draw, cell=70 * scale, octaves=2)
    worn = np.float32(width) * (0.35 + lumps + 0.7 * ragged) - away
    return np.asarray(np.clip(worn / max(1.0, 1.5 * scale), 0, 1), np.float32)


def _relief(lines: Pixels, scale: float, *, amount: float) -> Plane:
    """Light from the upper left on a fold: one side of it is brighter, the other darker."""
    if lines.all():
        return np.ones(lines.shape, np.float32)
    ridge = softened((255 - lines).astype(np.float32), max(0.6, 3.5 * scale))
    slope = cv2.Sobel(ridge, cv2.CV_32F, 1, 0) + cv2.Sobel(ridge, cv2.CV_32F, 0, 1)
    return np.asarray(1 + amount * slope / max(float(np.abs(slope).max()), 1e-6), np.float32)
