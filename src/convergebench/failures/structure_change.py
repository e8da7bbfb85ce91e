"""Structure change: a restoration shows shapes that the degraded picture contradicts: moved, bent, replaced, put in.

A proposal of infidelity, for a person to confirm. The result is brought to the input's own resolution, so that only
structure is compared which the degradation could not have destroyed, and is compared with the input window by window
(`_support.py`). Score: how much of the structure is missing from the input (from the input and the clean picture, where
there is one), over 0.6, at the place where that is highest over a spot about a fiftieth of the picture across. Weak
structure counts less, and below 1.5 levels per pixel not at all.

What it cannot see: changes finer than the input's resolution (another face of the same build in a very small one);
structure that was left out, since damage should be; anything in the outer 4.5 % where there is no clean picture. A
result that uncovers what a stain or a stamp hid differs from the input there, and may be proposed if the spot is large.
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
"""Share of the structure that counts."""
DETAIL, WINDOW = 2.0, 12.0
WEAK, STRONG = 1.5, 4.5
"""Slopes (levels per pixel) at which structure begins to count, and from which on it counts fully."""
SPOT = 9
"""Pixels across, at 512, over which it must be missing everywhere."""
NOTED = 0.5
"""Share of the highest value that belongs to the marked region."""


class _Change(NamedTuple):
    missing: float
    share: float
    region: Box


@detector(
    "structure-change",
    level="object",
    title="Structure change (proposed)",
    rule=(
        "at the input's own resolution, 60 % of the result's structure in a spot is neither in the degraded input nor "
        "in the clean picture; a proposal for a person to confirm"
    ),
    paper="infidelity: shape distortion, object insertion",
)
def structure_change(chain: ChainView) -> Examination:
    """Shapes that the degraded picture contradicts; a proposal of infidelity."""
    if not chain.restores:
        return does_not_apply("the chain restores nothing")

    def measure(index: int) -> StepScore | None:
        pictures = restored_pair(chain, index)
        if pictures is None:
            return None
        found = _change(pictures)
        return StepScore(
            found.missing / MISSING,
            {"structure-missing": round(found.missing, 4), "structure-share": round(found.share, 5)},
            f"proposed: {min(1.0, found.missing):.0%} of the structure here, at the resolution of the input, is not in "
            f"the input ({found.share:.1%} of the picture)",
            found.region,
        )

    return find_onset(chain, measure)


def _change(pictures: RestoredPair) -> _Change:
    found = unsupported(pictures, detail=DETAIL, window=WINDOW)
    counted = found.missing * np.clip((found.strength - WEAK) / (STRONG - WEAK), 0, 1)
    spot = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (SPOT, SPOT))
    everywhere = cv2.erode(counted, spot, borderType=cv2.BORDER_REPLICATE)
    highest = float(everywhere.max())
    if highest <= 0:
        return _Change(0.0, 0.0, Box(0, 0, 1, 1))
    _, patches = cv2.connectedComponents((counted >= NOTED * highest).astype(np.uint8), connectivity=8)
    patch = patches == patches.flat[int(everywhere.argmax())]
    return _Change(highest, float(patch.mean()), pictures.box(patch))
