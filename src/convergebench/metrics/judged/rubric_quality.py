"""Technical quality of a picture as any vision model rates it by a plain rubric, from 1 to 5.

The model lists the flaws it sees and then gives a score: 1 very poor, 2 poor, 3 fair, 4 good,
5 excellent. The rubric is our own and was not fitted to people's opinions: scores of different models are different
scales, and only scores of one pinned model may be compared.
"""

from __future__ import annotations

from convergebench.metrics.judged._asked import ParsedReply, asked


@asked(
    "rubric-quality",
    rubrics={"source": "quality-rubric", "return": "quality-rubric"},
    fields=("score",),
    asks="rater",
    kind="no-reference",
    better="higher",
    range=(1.0, 5.0),
    typical=(1.0, 5.0),
)
def rubric_quality(reply: ParsedReply) -> float:
    """Technical quality as a vision model rates it by a rubric: 1 very poor, 5 excellent."""
    return reply.number("score")
