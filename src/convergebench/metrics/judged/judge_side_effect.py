"""What else changed, in the eyes of a judge?

Read out of the same replies as `judge-happened` and `judge-undone`: the judge lists what changed although nobody asked
for it and says from 0 to 10 how much that harms the picture; the value is that as a share, 0 nothing else changed,
1 another picture. On the way back it is measured against the picture from before the round.

The list itself stands in the journal, in the table `answers`. Who judges, and what can go wrong: see `judge-happened`.
"""

from __future__ import annotations

from convergebench.metrics.judged._asked import Reply, asked


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
def judge_side_effect(reply: Reply) -> float:
    """How much else changed as a judge sees it: 0 nothing, 1 another picture."""
    return reply.share("severity")
