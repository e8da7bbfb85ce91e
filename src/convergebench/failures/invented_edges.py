"""Invented edges: strong new edges in a restoration, where the degraded picture has nothing that supports them.

A proposal of over-generation, for a person to confirm: lines, letters, folds, windows that were drawn in. Each edge of
the result is looked for in the input at the input's own resolution, in windows narrow enough for a single line
(`_support.py`). An edge counts as invented where its slope is strong (from 2 levels per pixel on, fully from 4) and 60
% of it or more are missing from the input, and from the clean picture where there is one. Score: the area of the
largest connected patch of such windows over 0.12 % of the squared longer side (a line of an eighth of the picture's
side, seen through its window), as a square root, since areas grow fast.

What it cannot see: edges finer than the input's resolution, if there is no clean picture, since they leave no trace
that could be missed; edges drawn along edges that were there; the outer 4.5 % where there is no clean picture. What a
result uncovers under a stamp or a crack is not in the input either.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures._restored_pair import RestoredPair, restored_pair
from convergebench.failures._support import unsupported
from convergebench.failures.base import Box, ChainView, Examination, detector, does_not_apply

MISSING = 0.6
"""Share of an edge's slope that counts."""
AREA = 0.0012
"""Of the squared longer side; honest results uncover up to 0.115 % under cracks."""
LEAST_PIXELS = 40
"""The same for small pictures, in pixels: fewer may be one noisy corner."""
DETAIL, WINDOW = 1.2, 4.0
WEAK, STRONG = 2.0, 4.0
"""Slopes (levels per pixel) at which edges begin to count, and from which on they count fully."""
MOST = 1.5
"""An edge with the opposite sign in the input counts for half as much again, not more."""


class _Edges(NamedTuple):
    score: float
    area: float
    region: Box | None


@detector(
    "invented-edges",
    level="sub-object",
    title="Invented edges (proposed)",
    rule=(
        "strong edges of which 60 % have no support at the input's own resolution, neither in the degraded input nor "
        "in the clean picture, over 0.12 % of the squared longer side; a proposal for a person to confirm"
    ),
    paper="over-generation",
)
def invented_edges(chain: ChainView) -> Examination:
    """Strong edges without support in the degraded picture; a proposal of over-generation."""
    if not chain.restores:
        return does_not_apply("the chain restores nothing")

    def measure(index: int) -> StepScore | None:
        pictures = restored_pair(chain, index)
        if pictures is None:
            return None
        found = _edges(pictures)
        return StepScore(
            found.score,
            {"invented-edge-area": round(found.area, 6)},
            f"proposed: strong edges over {found.area:.2%} of the picture's square have no support in the input",
            found.region,
        )

    return find_onset(chain, measure)


def _edges(pictures: RestoredPair) -> _Edges:
    found = unsupported(pictures, detail=DETAIL, window=WINDOW)
    counted = np.minimum(found.missing, MOST) * np.clip((found.strength - WEAK) / (STRONG - WEAK), 0, 1)
    count, patches, facts, _ = cv2.connectedComponentsWithStats((counted >= MISSING).astype(np.uint8), connectivity=8)
    if count < 2:
        return _Edges(0.0, 0.0, None)
    largest = 1 + int(facts[1:, cv2.CC_STAT_AREA].argmax())
    pixels, square = int(facts[largest, cv2.CC_STAT_AREA]), max(counted.shape) ** 2
    score = float(np.sqrt(pixels / max(AREA * square, LEAST_PIXELS)))
    return _Edges(score, pixels / square, pictures.box(patches == largest))
