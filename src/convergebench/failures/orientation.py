"""Orientation: a step that was requested to mirror or rotate the picture did not, or did it differently.

The rule. The picture is compared with all eight ways to mirror and rotate the one before, by the correlation of small
versions without broad shading, after resizing, or after registration where that does not decide (crops, a rotation on
an unrotated canvas). With d = 1 − correlation the share is d(best other) / (d(requested) + d(best other)); below ½ the
step failed, and the best other transform is what was done instead. Consecutive steps that failed are one finding; its
detail says how many of all such steps were done.

Confidence is 1 − share: ½ where the requested and another transform match equally well, near 1 if the other is exact.

What it cannot see: a picture that looks the same mirrored (correlation 0.97 or more) or one that was redrawn beyond
recognition (best correlation under 0.35) is left open. A picture mirrored in part is judged by its larger part.
"""

from __future__ import annotations

from itertools import groupby

from convergebench.failures._turns import StepTurn, turns
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
    requested = turns(chain)
    if not requested:
        return does_not_apply("no step was to mirror or turn")
    clear = [turn for turn in requested if not turn.unclear]
    probes = {"done": {turn.step: round(turn.share, 4) for turn in clear}}
    if not clear:
        return cannot_tell(requested[0].unclear, probes)
    done = sum(not turn.failed for turn in clear)
    rate = f"{done} of {len(clear)} such steps were done ({done / len(clear):.0%})"
    if len(clear) < len(requested):
        rate += f", {len(requested) - len(clear)} more cannot be told"
    groups = [list(group) for failed, group in groupby(clear, key=lambda turn: turn.failed) if failed]
    return Examination(tuple(_finding(group, rate) for group in groups), probes)


def _finding(group: list[StepTurn], rate: str) -> Finding:
    worst = min(group, key=lambda turn: turn.share)
    instead = sorted({turn.best for turn in group})
    return Finding(
        group[0].step,
        round(1 - worst.share, 3),
        f"asked for {worst.requested}, the picture was {_in_words(instead)}; {rate}",
        last=group[-1].step,
        shown=worst.step,
    )


def _in_words(transforms: list[str]) -> str:
    names = {
        "flip-horizontal": "mirrored left to right",
        "flip-vertical": "mirrored top to bottom",
        "rotate-90": "turned clockwise by a quarter",
        "rotate-180": "turned by a half",
        "rotate-270": "turned counter-clockwise by a quarter",
    }
    return " or ".join(names.get(name, name) for name in transforms)
