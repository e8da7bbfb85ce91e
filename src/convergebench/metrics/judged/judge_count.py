"""How many things of the kind that was to be added does a judge count?

Asked about steps that were to add something. The judge sees the picture that came back and the instruction, says which
kind of thing it names and how many of that kind there are; the value is that number. From one step to the next it
should rise by as many as were asked for. Where the instruction names no kind, or they cannot be told apart, the value
is missing with status `cannot-tell`; so it is for a number that is not whole.

Vision models count badly beyond a handful, and miss what is cut off or hidden. Pin the model, set repeats, and take a
count that does not rise as a reason to look at the pictures. The measuring judge cannot count: it knows no words.
"""

from __future__ import annotations

from math import inf

from convergebench.errors import Unmeasurable
from convergebench.metrics.judged._asked import ParsedReply, asked


@asked(
    "judge-count",
    rubrics={"step": "count-objects"},
    fields=("count",),
    asks="judge",
    operations=("add",),
    kind="diagnostic",
    better="neither",
    range=(0.0, inf),
)
def judge_count(reply: ParsedReply) -> float:
    """How many objects of the kind to be added are in the image, as a judge counts them."""
    count = reply.number("count")
    if not count.is_integer():
        raise Unmeasurable("cannot-tell", f"{count:g} is not a number of things")
    return count
