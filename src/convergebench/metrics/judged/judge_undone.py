"""Was the edit undone, in the eyes of a judge?

The judge sees the picture from before the round, the edited one and the one after the undoing, with both instructions,
and says from 0 to 10 how far the edit is gone; the value is that as a share, 0 nothing undone, 1 no trace left. Where
the forward edit had done nothing there is nothing to undo, and the value is missing with status `cannot-tell`.

Who judges, and what can go wrong: see `judge-happened`.
"""

from __future__ import annotations

from convergebench.metrics.judged._asked import ParsedReply, asked


@asked(
    "judge-undone",
    rubrics={"backward": "semantics-backward"},
    fields=("undone",),
    asks="judge",
    kind="adherence",
    better="higher",
    range=(0.0, 1.0),
    self_value=1.0,
)
def judge_undone(reply: ParsedReply) -> float:
    """How far the edit was undone, as a judge sees it: 1 without a trace, 0 not at all."""
    return reply.share("undone")
