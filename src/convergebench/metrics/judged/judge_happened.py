"""Did the step do what its words asked for, in the eyes of a judge?

The judge sees the picture before and after and the instruction, and says from 0 to 10 how far it was carried out; the
value is that as a share, 0 nothing of it, 1 all of it. With several repeats it is their mean. The same question also
gives `judge-side-effect`.

The judge is a served vision model, or the measuring judge, which looks at `happened` and knows no words. A model's
judgement moves with its version, its sampling and the wording: pin the model, repeat, and look at the spread in the
detail. A refusal, an unparsable reply and "cannot be told" are missing values with their own status.
"""

from __future__ import annotations

from convergebench.metrics.judged._asked import ParsedReply, asked


@asked(
    "judge-happened",
    rubrics={"forward": "semantics-forward"},
    fields=("carried_out",),
    asks="judge",
    kind="adherence",
    better="higher",
    range=(0.0, 1.0),
    self_value=0.0,
)
def judge_happened(reply: ParsedReply) -> float:
    """How far the instruction was carried out, as a judge sees it: 1 fully, 0 not at all."""
    return reply.share("carried_out")
