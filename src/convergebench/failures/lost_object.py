"""A lost object: something that the source clearly shows is no longer there, and nobody asked for that.

The rule. The object detector of `vision` (80 kinds of everyday objects) looks at the source and at the step, aligned.
An object is lost if it is seen in the source (score 0.3, 1 % of the picture), if nothing of a like kind
overlaps its place in the step and nothing of any kind fills it, even at a score of 0.25, and if the pixels there
correlate by less than 0.8 with the source's. Three steps in a row must show it. While an edit is in force, objects of
the kind it names are left open; once it is undone, all of the source's objects must be back.

Confidence is ½ at the threshold; the score is the smaller of the source's score over 0.3 and the change of the pixels
over what counts.

What it cannot see: things that are none of the 80 kinds (a lamp, a picture on the wall) or small; an object exchanged
for another of a like kind; an object that the network did not recognise in the source. A picture that has fallen apart
(correlation below 0.6) is left open.
"""

from __future__ import annotations

from convergebench.failures._object_onset import find_object_change
from convergebench.failures.base import ChainView, Examination, detector


@detector(
    "lost-object",
    level="object",
    title="Lost object",
    rule="an object seen in the source with a score of 0.3 or more has no counterpart at 0.25 in the step, and "
    "the pixels at its place correlate by less than 0.8, at three steps in a row",
)
def lost_object(chain: ChainView) -> Examination:
    """Loses an object that the source shows and that no step was to remove."""
    return find_object_change(chain, "lost")
