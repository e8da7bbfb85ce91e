"""Quality of a picture as VisualQuality-R1 rates it: a vision model that thinks before it gives a score.

The model (Qwen2.5-VL 7B, trained by reinforcement learning to rank pictures) is served by vLLM or SGLang and asked in
its authors' own words; the score stands between `<answer>` tags. It is meant to lie from 1, very poor, to 5, excellent,
and sometimes does not: scores outside are kept as they are. Where the authors' script puts a random number for a reply
that cannot be read, this has no value.

Paper: Wu et al. 2025, arXiv:2505.14460. Weights: TianheWu/VisualQuality-R1-7B on the hub, Apache-2.0. It samples, so a
picture rated twice gets two scores: set repeats. Its training pictures are photographs with camera and codec faults;
what it says of edited pictures is what is being tested.
"""

from __future__ import annotations

from math import inf

from convergebench.metrics.judged._asked import ParsedReply, asked


@asked(
    "visualquality-r1",
    rubrics={"source": "visualquality-r1", "return": "visualquality-r1"},
    fields=("score",),
    asks="rater",
    kind="no-reference",
    better="higher",
    range=(-inf, inf),
    typical=(1.0, 5.0),
    paper="Wu et al. 2025, arXiv:2505.14460",
    licence="Apache-2.0 (prompt and weights)",
)
def visualquality_r1(reply: ParsedReply) -> float:
    """Quality as a reasoning vision model rates it, nominally from 1 to 5."""
    return reply.number("score")
