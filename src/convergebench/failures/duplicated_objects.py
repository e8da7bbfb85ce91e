"""Duplicated objects: in a chain that only copies, a part of the picture turns up a second time.

The rule. Patches that differ from the source (`_changes`) are looked for elsewhere in the same picture (`_copies`): in
small versions without noise and broad shading, at three sizes, also mirrored. A patch is a copy if it correlates by 0.6
or more with a place of the picture that looks as it did in the source, and if that is 0.15 more than that place
correlated with any other place of the source: what the scene itself repeats (tiles, waves, books) is no copy. Three
steps in a row must show it.

Confidence is ½ at the threshold; the score is the smaller of the two excesses.

What it cannot see: copies turned or bent, or of other sizes than 0.8 to 1.25; copies smaller than 16 of 256 pixels, or
too plain to be recognised; a third wave or a fourth bookshelf. Two similar patches that are both new are no
copies.
"""

from __future__ import annotations

from convergebench.failures._aligned_pair import aligned_to_source
from convergebench.failures._copies import Copy, best_copy
from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures.base import ChainView, Examination, detector, does_not_apply

LIKENESS = 0.6
"""Correlation of a copy with its original; things that are merely new stay under 0.55."""
EXCESS = 0.15
"""How much that must exceed what the scene itself repeats; walls and windows painted by a real editor reach 0.13."""


@detector(
    "duplicated-objects",
    level="object",
    title="Duplicated objects",
    rule="a changed patch correlates by 0.6 or more with another place of the picture, 0.15 more than that place did "
    "with any other in the source, at three steps in a row",
    paper="Duplicated objects",
)
def duplicated_objects(chain: ChainView) -> Examination:
    """Shows a part of the picture twice that the source shows once."""
    asked = chain.asks_for("add", "remove", "change")
    if asked:
        return does_not_apply(
            f"step {asked[0].index} was to {asked[0].operation} something, so new parts are no failure"
        )
    return find_onset(chain, lambda index: _read(chain, index))


def _read(chain: ChainView, index: int) -> StepScore | None:
    pair = aligned_to_source(chain, index)
    if pair is None:
        return None
    copy = best_copy(pair.step, pair.source)
    if copy is None:
        return StepScore(0.0, {"likeness": 0.0, "excess": 0.0})
    numbers = {"likeness": round(copy.likeness, 4), "excess": round(copy.excess, 4)}
    score = max(0.0, min(copy.likeness / LIKENESS, copy.excess / EXCESS))
    return StepScore(score, numbers, _detail(copy), pair.as_returned(copy.part))


def _detail(copy: Copy) -> str:
    sideways = copy.original.x + copy.original.width / 2 - copy.part.x - copy.part.width / 2
    where = f"{abs(sideways):.0%} of the width to the {'right' if sideways > 0 else 'left'}"
    return (
        f"a part correlates {copy.likeness:.2f} with what lies {where} of it; "
        f"in the source the most alike place reached {copy.before:.2f}"
    )
