"""Counting: a step that was requested to add one thing added none, or several at once.

The rule. A step requested to add something is compared with the picture it started from (`_changes`). If no patch of 3
× 3 cells or more (of 96 along the longer side) differs by more than ΔE 8 and by more than 6 spreads of what changed
everywhere, nothing was added. If there are two or more patches of like size (0.4 of the largest or more) and like
colour (ΔE 18 or less), several were. Steps in a row with the same outcome are one finding.

Where the patches show none or several, and the thing that was asked for is one of the 80 kinds that the object detector
of `vision` knows (and its weights are fetched), that network decides if it is clear: exactly one new one seen with a
score of 0.3, and no other even suspected, is one; two or more are several. What it does not see proves nothing.

Confidence is ½ at the threshold. For a missing addition it grows as the strongest change shrinks (score: threshold over
change), for several with their number (score: number − 1, as two are the fewest that can be called so).

What it cannot see: a thing of the colour of what it is laid on, or smaller than 3 % of the picture; whether the one
thing added is the thing that was named; two things that touch, or more that touch so closely that no neck is left
between them. A thing that comes in two like parts (a pair of earrings) is called several. Where the whole picture was
redrawn (threshold above ΔE 20) a step without a patch is left open.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

from convergebench.failures._additions import Addition, additions
from convergebench.failures._changes import box_of
from convergebench.failures._onset import confidence
from convergebench.failures.base import ChainView, Examination, Finding, cannot_tell, detector, does_not_apply

WEAKEST = 0.02
"""Change, in thresholds, below which the confidence in a missing addition no longer grows."""


@detector(
    "counting",
    level="object",
    title="Counting failure",
    rule="a step asked to add one thing changed no patch of 3 × 3 cells (of 96) by ΔE 8 and 6 spreads, "
    "or changed two or more patches alike in size (0.4) and colour (ΔE 18); if the object detector sees one new "
    "object of the asked kind there, it was added",
    paper="Counting Failures",
    version=2,
)
def counting(chain: ChainView) -> Examination:
    """Adds nothing, or several things at once, where one was asked for."""
    found = additions(chain)
    if not found:
        return does_not_apply("no step was to add something")
    probes = {
        "change": {one.step: round(one.changes.strength, 3) for one in found},
        "things": {one.step: float(len(one.things)) for one in found if one.outcome != "unclear"},
    }
    counted = {one.step: float(one.seen.sure) for one in found if one.seen is not None}
    if counted:
        probes["seen"] = counted
    if all(one.outcome == "unclear" for one in found):
        return cannot_tell("too much of the picture changes at every step to see one new thing", probes)
    groups = [(outcome, list(group)) for outcome, group in groupby(found, key=lambda one: one.outcome)]
    findings = [
        _none(group) if outcome == "none" else _several(group)
        for outcome, group in groups
        if outcome in ("none", "several")
    ]
    return Examination(tuple(findings), probes)


def _none(group: list[Addition]) -> Finding:
    strongest = max(one.changes.strength for one in group)
    steps = f"{len(group)} steps in a row" if len(group) > 1 else "this step"
    return Finding(
        group[0].step,
        confidence(1 / max(WEAKEST, strongest)),
        f"{steps} should each have added one thing and added none: the strongest change in one place is "
        f"{strongest:.2f} of what would count",
        last=group[-1].step,
    )


def _several(group: list[Addition]) -> Finding:
    most = max(group, key=lambda one: one.number)
    counts = ", ".join(str(one.number) for one in group)
    alike = "alike in size and colour" if len(most.things) > 1 else "of the kind that was asked for"
    return Finding(
        group[0].step,
        confidence(most.number - 1),
        f"{counts} things {alike} were added at once; one was asked for",
        region=box_of(np.any(most.things, axis=0)) if most.things else None,
        last=group[-1].step,
        shown=most.step,
    )
