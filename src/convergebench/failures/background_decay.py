"""Background decay: what is newly added looks fresh while the rest of the picture gets steadily worse.

The rule. At every step that added one thing, two probes (`_freshness`) are measured inside the new thing and in the
part that no step of the chain touched: grain and the width of edges. A step shows the failure if a probe of that part
is at least 1.5 times its value at the first addition and at least 1.4 times its value inside the new thing.
Two such steps are needed, and the growth must still be there at the last addition.

Confidence is ½ at the threshold; the score is the smaller of the two excesses (in logarithms) at the step that shows it
best.

What it cannot see: decay of colour alone, or of texture without wider edges or grain (a picture melting into flat
patches). Things too small to hold four blocks of 8 × 8 pixels. Chains with fewer than three additions are left open,
and so are steps whose picture has another size than the first.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

import cv2
import numpy as np

from convergebench.failures._additions import Addition, additions, on_grid
from convergebench.failures._changes import Mask, box_of
from convergebench.failures._freshness import Freshness, freshness
from convergebench.failures._onset import confidence
from convergebench.failures.base import Box, ChainView, Examination, Finding, cannot_tell, detector, does_not_apply

RISE = log(1.5)
"""How much worse the untouched part must have become: half as much grain again is clearly visible side by side."""
GAP = log(1.4)
"""How much worse it must be than the new thing; in clean pictures the two differ by up to 1.3."""
FEWEST = 3
"""Measurable additions required."""
TWICE = 2
"""Steps required to show it."""
AROUND = 0.5
"""Margin of an evidence crop around the thing, in sizes of the thing."""


class _Reading(NamedTuple):
    step: int
    inside: Freshness
    outside: Freshness
    place: Mask


@detector(
    "background-decay",
    level="object",
    title="Background decays while additions stay fresh",
    rule="in the part no step touched, grain or the width of edges grows 1.5-fold from the first addition on and is "
    "1.4 times that of the new thing, at two steps or more",
    paper="Consistent Background Degradation",
)
def background_decay(chain: ChainView) -> Examination:
    """Adds fresh things to a picture that wears out."""
    found = additions(chain)
    if not found:
        return does_not_apply("no step was to add something")
    readings = _readings(chain, found)
    probes = {
        f"{name}-{where}": {each.step: round(value, 4) for each in readings if (value := pick(each, name)) is not None}
        for name in ("grain", "edge")
        for where, pick in (("inside", _inside), ("outside", _outside))
    }
    if len(readings) < FEWEST:
        return cannot_tell(f"{len(readings)} additions could be measured, {FEWEST} are needed", probes)
    candidates = [finding for name in ("grain", "edge") if (finding := _finding(readings, name)) is not None]
    best = max(candidates, key=lambda finding: finding.confidence, default=None)
    return Examination(() if best is None else (best,), probes)


def _inside(reading: _Reading, name: str) -> float | None:
    value: float | None = getattr(reading.inside, name)
    return value


def _outside(reading: _Reading, name: str) -> float | None:
    value: float | None = getattr(reading.outside, name)
    return value


def _readings(chain: ChainView, found: list[Addition]) -> list[_Reading]:
    """Both probes at every step that added one thing, inside it and in the untouched part."""
    single = [one for one in found if one.outcome == "one"]
    if not single:
        return []
    grid, size = single[0].changes.grid, chain.frame(single[0].step).size
    touched = np.zeros(grid, np.bool_)
    for one in found:
        for patch in one.changes.patches:
            touched |= on_grid(patch.mask, grid)
    # a shadow or a blurred rim extends a little beyond the patch
    free: Mask = cv2.dilate(touched.astype(np.uint8), np.ones((5, 5), np.uint8)) == 0
    readings = []
    for one in single:
        frame = chain.frame(one.step)
        if frame.size == size:
            place = one.things[0]
            # grain is measured in whole blocks, so the rim does not affect it, and edges are at the rim
            readings.append(_Reading(one.step, freshness(frame, place), freshness(frame, free), place))
    return readings


def _finding(readings: list[_Reading], name: str) -> Finding | None:
    measured = [
        (each, log(outside), log(inside))
        for each in readings
        if (inside := _inside(each, name)) is not None and (outside := _outside(each, name)) is not None
    ]
    if len(measured) < FEWEST:
        return None
    first = measured[0][1]
    scores = [min((outside - first) / RISE, (outside - inside) / GAP) for _, outside, inside in measured]
    shown = [place for place, score in enumerate(scores) if score >= 1]
    if len(shown) < TWICE or measured[-1][1] - first < RISE:
        return None
    best = max(shown, key=scores.__getitem__)
    reading, outside, inside = measured[best]
    what = "grain" if name == "grain" else "width of edges"
    unit = "levels" if name == "grain" else "pixels"
    return Finding(
        measured[shown[0]][0].step,
        confidence(scores[best]),
        f"{what} in the untouched part went from {np.exp(first):.2f} to {np.exp(outside):.2f} {unit} by step "
        f"{reading.step}, and is {np.exp(inside):.2f} in what that step added; "
        f"{len(shown)} of {len(measured)} steps show it",
        region=_with_surroundings(box_of(reading.place)),
        shown=reading.step,
    )


def _with_surroundings(box: Box) -> Box:
    left, top = max(0.0, box.x - AROUND * box.width), max(0.0, box.y - AROUND * box.height)
    right = min(1.0, box.x + (1 + AROUND) * box.width)
    bottom = min(1.0, box.y + (1 + AROUND) * box.height)
    return Box(left, top, right - left, bottom - top)
