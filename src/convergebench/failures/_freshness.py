"""How worn a part of a picture looks: its grain and the width of its edges.

Both mean the same for a fruit and for a table, so that a new object can be compared with what was there before.
Grain is the noise floor: the mean diagonal detail of small blocks, of which the lowest tenth is taken, as texture only
adds to it. The width of an edge follows from how much a further blur flattens it (Zhuo and Sim's estimate of defocus);
of the stronger edges the sharpest quarter counts.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.failures._changes import Mask
from convergebench.images.frame import Frame, Plane

BLOCK = 8
"""Pixels a side of a block."""
BLOCKS = 4
"""Fewest blocks for the grain of a part to be measured."""
CALM = 0.1
"""Quantile of the blocks' detail that is the noise floor."""
FLOOR = 0.35
"""Levels below which grain is rounding to 8 bits."""
FIRST, SECOND = 0.7, 1.5
"""Blur (pixels) that removes noise from the edges, and the second one that reveals their width."""
EDGE = 2.0
"""Slope, in levels per pixel after both blurs, at which there is an edge."""
EDGES = 60
"""Fewest edge pixels for the width of edges to be measured."""
SHARP = 0.25
"""Quantile of the widths: how sharp its sharpest edges are."""


class Freshness(NamedTuple):
    """Grain and edge width of one part; None where the part is too small or has too few edges."""

    grain: float | None
    """Noise floor in levels."""
    edge: float | None
    """Width (standard deviation of the blur) in pixels."""


def freshness(frame: Frame, part: Mask) -> Freshness:
    """Grain and width of edges inside the cells of a mask."""
    return Freshness(_grain(frame, part), _edge(frame, part))


def _grain(frame: Frame, part: Mask) -> float | None:
    blocks = frame.derived("diagonal-blocks", _make_blocks)
    size = blocks.shape[1], blocks.shape[0]
    whole = cv2.resize(_pixels(part, frame)[: size[1] * BLOCK, : size[0] * BLOCK], size, interpolation=cv2.INTER_AREA)
    values = blocks[whole > 0.98]
    return max(FLOOR, float(np.quantile(values, CALM))) if values.size >= BLOCKS else None


def _make_blocks(frame: Frame) -> Plane:
    grey = cv2.cvtColor(frame.pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    detail = np.zeros_like(grey)
    detail[:-1, :-1] = np.abs(grey[:-1, :-1] - grey[1:, :-1] - grey[:-1, 1:] + grey[1:, 1:]) / 2
    size = max(1, frame.width // BLOCK), max(1, frame.height // BLOCK)
    whole = detail[: size[1] * BLOCK, : size[0] * BLOCK]
    return np.asarray(cv2.resize(whole, size, interpolation=cv2.INTER_AREA), np.float32)


class _Edges(NamedTuple):
    slope: Plane
    width: Plane


def _edge(frame: Frame, part: Mask) -> float | None:
    edges = frame.derived("edge-widths", _make_edges)
    there = (_pixels(part, frame) > 0) & (edges.slope > EDGE)
    slopes = edges.slope[there]
    if slopes.size < EDGES:
        return None
    return float(np.quantile(edges.width[there & (edges.slope >= np.median(slopes))], SHARP))


def _make_edges(frame: Frame) -> _Edges:
    grey = cv2.GaussianBlur(cv2.cvtColor(frame.pixels, cv2.COLOR_RGB2GRAY).astype(np.float32), (0, 0), FIRST)
    steep, flat = _slope(np.asarray(grey)), _slope(np.asarray(cv2.GaussianBlur(grey, (0, 0), SECOND)))
    crest = flat >= 0.95 * np.asarray(cv2.dilate(flat, np.ones((3, 3), np.uint8)))
    ratio = np.maximum(1.02, steep / np.maximum(flat, 1e-3))
    width = SECOND / np.sqrt(np.square(ratio) - 1)
    return _Edges(np.where(crest, flat, 0).astype(np.float32), width.astype(np.float32))


def _slope(grey: Plane) -> Plane:
    across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
    return np.asarray(cv2.magnitude(across, down), np.float32) / np.float32(8)


def _pixels(part: Mask, frame: Frame) -> Plane:
    return np.asarray(cv2.resize(part.astype(np.float32), frame.size, interpolation=cv2.INTER_NEAREST), np.float32)
