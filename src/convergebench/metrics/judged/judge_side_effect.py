"""What else changed, in the eyes of a judge?

Read from the same replies as `judge-happened` and `judge-undone`: the judge lists the changes that were not requested
and rates from 0 to 10 how much they harm the picture; the value is that as a share, 0 nothing else changed,
1 another picture. For a backward step the picture before the round is the reference.

The list itself is in the journal, in the table `answers`. Who judges, and what can go wrong: see `judge-happened`.
"""

from __future__ import annotations

from convergebench.metrics.judged._asked import ParsedReply, asked


@asked(
    "judge-side-effect",
    rubrics={"forward": "semantics-forward", "backward": "semantics-backward"},
    fields=("severity",),
    asks="judge",
    kind="diagnostic",
    better="lower",
    range=(0.0, 1.0),
    self_value=0.0,
)
def judge_side_effect(reply: ParsedReply) -> float:
    """How much else changed, as a judge sees it: 0 nothing, 1 a different image."""
    return reply.share("severity")
