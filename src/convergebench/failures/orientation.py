"""Orientation: a step that was to mirror or turn the picture did not, or did it another way.

The rule. The picture is held against all eight ways in which the one before can be mirrored and turned, by the
correlation of small versions less their broad shading, after fitting sizes, or after registration where that does not
settle it (crops, a turn on a canvas that was not turned). With d = 1 − correlation the share is d(best other way) /
(d(asked) + d(best other way)); below ½ the step failed, and the best other way is what was done instead. Steps in a row
that failed are one finding; its detail says how many of all such steps were done.

Confidence is 1 − share: ½ where asked and other way explain the picture equally well, near 1 where the other is exact.

What it cannot see: a picture that looks the same mirrored (correlation 0.97 or more) or one that was redrawn beyond
recognition (best correlation under 0.35) is left open. What was mirrored in part is judged by its larger part.
"""

from __future__ import annotations

from itertools import groupby

from convergebench.failures._turns import Turn, turns
from convergebench.failures.base import ChainView, Examination, Finding, cannot_tell, detector, does_not_apply


@detector(
    "orientation",
    level="image",
    title="Mirroring or rotation not done",
    rule="of all eight ways to mirror and turn the picture before, another one than the one asked for is nearest "
    "(1 − correlation of outlines)",
    paper="Mirroring and Rotation Failures",
)
def orientation(chain: ChainView) -> Examination:
    """Does not mirror or turn where it was asked to."""
    asked = turns(chain)
    if not asked:
        return does_not_apply("no step was to mirror or turn")
    told = [turn for turn in asked if not turn.unclear]
    probes = {"done": {turn.step: round(turn.share, 4) for turn in told}}
    if not told:
        return cannot_tell(asked[0].unclear, probes)
    done = sum(not turn.failed for turn in told)
    rate = f"{done} of {len(told)} such steps were done ({done / len(told):.0%})"
    if len(told) < len(asked):
        rate += f", {len(asked) - len(told)} more cannot be told"
    groups = [list(group) for failed, group in groupby(told, key=lambda turn: turn.failed) if failed]
    return Examination(tuple(_finding(group, rate) for group in groups), probes)


def _finding(group: list[Turn], rate: str) -> Finding:
    worst = min(group, key=lambda turn: turn.share)
    instead = sorted({turn.best for turn in group})
    return Finding(
        group[0].step,
        round(1 - worst.share, 3),
        f"asked for {worst.asked}, the picture was {_said(instead)}; {rate}",
        last=group[-1].step,
        shown=worst.step,
    )


def _said(ways: list[str]) -> str:
    names = {
        "flip-horizontal": "mirrored left to right",
        "flip-vertical": "mirrored top to bottom",
        "rotate-90": "turned clockwise by a quarter",
        "rotate-180": "turned by a half",
        "rotate-270": "turned counter-clockwise by a quarter",
    }
    return " or ".join(names.get(way, way) for way in ways)
