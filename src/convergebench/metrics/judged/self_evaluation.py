"""Does the editor itself say that the picture it was given is damaged?

Some editors return a summary of their reasoning. A reader gets that summary and nothing else, with the prompt of the
paper behind Banana100, and answers yes or no: does it mention that the original image is noisy, pixelated, or has
visible artefacts? Yes is 1, no is 0; with several repeats the value is the share of yes among the replies that could be
read. A reply of any other words is unparsable: a missing value, counted, never guessed.

The reader is a served language model (the paper's was Gemini 3 Flash) or, where none is configured, a word list that is
no model at all: see docs/judges.md for how often it is right. A step whose editor gave no summary is not asked about
and has the status `no-reasoning`. It is a fact about the editor's account, not about the picture: an editor may wear a
picture down and say nothing, or speak of noise that is not there.
"""

from __future__ import annotations

from convergebench.metrics.judged._asked import ParsedReply, asked


@asked(
    "self-evaluation",
    rubrics={"step": "self-evaluation"},
    fields=("noticed",),
    asks="reader",
    kind="diagnostic",
    better="neither",
    range=(0.0, 1.0),
    paper="Banana100 (the prompt is its Fig. 8)",
)
def self_evaluation(reply: ParsedReply) -> float:
    """Whether the editor's own summary says that its input is noisy, pixelated or damaged: 1 yes, 0 no."""
    return reply.share("noticed")
