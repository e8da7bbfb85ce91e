"""Replacement: the new thing was put in place of one that an earlier step had added, not beside it.

The rule. Every step's new thing is recorded as a place in the picture (`_additions`). A step requested to add something
replaced an earlier thing if at least 0.8 of that thing's place (less its rim) has changed, if that place makes up at
least 0.2 of all that changed (a melon may hide a berry without having replaced it), and if no more new things came than
earlier ones went.

Confidence is ½ at the threshold and grows with the share of the earlier place that changed: its score is 1 at 0.8 and 3
at all of it.

What it cannot see: things of the source itself that were replaced (their places are not recorded);
a replacement by the same kind of thing, which looks as if nothing was added and is called a counting failure. A new
thing laid right over an earlier one of like size hides it, and cannot be distinguished from a replacement.
"""

from __future__ import annotations

import numpy as np

from convergebench.failures._additions import COVERED, Addition, AdditionArea, additions
from convergebench.failures._changes import box_of
from convergebench.failures._onset import confidence
from convergebench.failures.base import ChainView, Examination, Finding, cannot_tell, detector, does_not_apply

SHARE = 0.2
"""Share of the change that the earlier thing's place must make up."""
SUREST = 3.0
"""Score where the whole earlier place has changed."""


@detector(
    "replacement",
    level="object",
    title="Replacement instead of addition",
    rule="0.8 of the place of a thing that an earlier step had added changed, it is 0.2 or more of all that changed, "
    "and no more things came than went",
    paper="Replacement but not Addition",
)
def replacement(chain: ChainView) -> Examination:
    """Puts the new thing where an earlier step's thing was."""
    found = additions(chain)
    if not any(one.earlier for one in found):
        return does_not_apply("no step was to add something to what an earlier one had added")
    shares = {one.step: max((share for _, share in one.gone), default=0.0) for one in found if one.earlier}
    probes = {"place-changed": shares}
    if all(one.outcome == "unclear" for one in found):
        return cannot_tell("too much of the picture changes at every step to see where things went", probes)
    findings = [finding for one in found if (finding := _finding(chain, one)) is not None]
    return Examination(tuple(findings), probes)


def _finding(chain: ChainView, one: Addition) -> Finding | None:
    if not one.changes.patches:
        return None
    changed = np.any([patch.mask for patch in one.changes.patches], axis=0)
    whole = float(np.count_nonzero(changed))
    replaced = [(place, share) for place, share in one.gone if np.count_nonzero(changed & place.mask) >= SHARE * whole]
    if not replaced or len(one.things) > len(replaced):
        return None
    place, share = max(replaced, key=lambda each: each[1])
    score = 1 + (SUREST - 1) * (share - COVERED) / (1 - COVERED)
    return Finding(
        one.step,
        confidence(score),
        f"{share:.0%} of where step {place.step} had added something has changed, and nothing new stands beside it"
        + _instructions(chain, place, one.step),
        region=box_of(changed | place.mask),
        last=one.step,
    )


def _instructions(chain: ChainView, place: AdditionArea, step: int) -> str:
    """The two instructions, so that a reader sees what replaced what."""
    then, now = chain.steps[place.step].instruction, chain.steps[step].instruction
    return f" (then: “{then}”, now: “{now}”)" if then and now and then != now else ""
