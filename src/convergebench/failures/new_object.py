"""A new object: the picture shows something that the source does not have and that nobody asked for.

The rule is that of `lost-object` with source and step exchanged: an object seen in the step (score 0.3, 1 % of
the picture) at a place where the source shows nothing alike, even at a score of 0.25, and where the pixels correlate by
less than 0.8 with the source's, at three steps in a row. Objects of the kinds that the instructions name are expected;
whether they were removed again is measured by `undone`.

Confidence is ½ at the threshold; the score is the smaller of the step's score over 0.3 and the change of the pixels
over what counts.

What it cannot see: things that are none of the 80 kinds, or small; debris that resembles nothing; a second object of
the kind that was asked for, which `counting` looks for.
"""

from __future__ import annotations

from convergebench.failures._object_onset import find_object_change
from convergebench.failures.base import ChainView, Examination, detector


@detector(
    "new-object",
    level="object",
    title="New object",
    rule="an object seen in the step with a score of 0.3 or more has no counterpart at 0.25 in the source, and "
    "the pixels at its place correlate by less than 0.8, at three steps in a row",
)
def new_object(chain: ChainView) -> Examination:
    """Shows an object that the source does not have and that no step was to add."""
    return find_object_change(chain, "new")
