"""Small detectors for tests of examining, found by their names as a user's own would be."""

from __future__ import annotations

import os
from typing import Any

from convergebench.failures.base import Box, ChainView, Examination, Finding, cannot_tell, detector, does_not_apply

OPERATIONS = ("add", "remove", "change", "flip-horizontal", "replicate")


def mean(chain: ChainView, index: int) -> float:
    return float(chain.frame(index).pixels.mean())


@detector("brighter", level="image", title="Brighter", rule="the mean rises by more than 0.5")
def brighter(chain: ChainView) -> Examination:
    """Sees pictures that are brighter than the source."""
    rise = {step.index: mean(chain, step.index) - mean(chain, 0) for step in chain.steps}
    seen = [index for index, value in rise.items() if value > 0.5]
    found = [
        Finding(index, 0.75, f"step {index} is brighter", Box(0.25, 0.25, 0.5, 0.5), last=seen[-1])
        for index in seen[:1]
    ]
    return Examination(tuple(found), {"rise": rise})


@detector("never", level="noise", title="Never", rule="never")
def never(chain: ChainView) -> Examination:
    """Looks and sees nothing."""
    return Examination(probes={"odd": {1: float("nan")}})


@detector("unsure", level="object", title="Unsure", rule="one cannot tell")
def unsure(chain: ChainView) -> Examination:
    """Cannot tell."""
    return cannot_tell("it is dark")


@detector("lacking", level="object", title="Lacking", rule="needs a file")
def lacking(chain: ChainView) -> Examination:
    """Cannot tell as long as its file is not there."""
    if "LACKING_IS_HERE" in os.environ:
        return Examination()
    return cannot_tell("the file is not here; type: fetch it", {"tried": {1: 1.0}}, retry=True)


@detector("elsewhere", level="object", title="Elsewhere", rule="where something was to be removed twice")
def elsewhere(chain: ChainView) -> Examination:
    """Does not apply."""
    return does_not_apply("nothing was to be removed twice")


@detector("unsure", level="object", title="Unsure", rule="one cannot tell", version=2)
def withdrawn(chain: ChainView) -> Examination:
    """The later version of a rule, which knows that it does not apply."""
    return does_not_apply("it was never meant for this")


@detector("slips", level="image", title="Slips", rule="divides by zero")
def slips(chain: ChainView) -> Examination:
    """Fails on the chains of one source."""
    if chain.source == "first":
        return Examination((Finding(1, 1 / 0, "no"),))
    return Examination()


@detector("twice", level="image", title="Twice", rule="at the first and at the last step")
def twice(chain: ChainView) -> Examination:
    """Two findings in a chain."""
    return Examination((Finding(1, 1.0, "first", last=1), Finding(chain.last, 0.5, "last")))


@detector("counting", level="object", title="Counting", rule="one more")
def counting(chain: ChainView) -> Examination:
    """Stands for the rule beside which a judge may count."""
    return Examination()


@detector("facts", level="image", title="Facts", rule="writes down what it is told")
def facts(chain: ChainView) -> Examination:
    """Everything that a view says, as numbers."""
    compared = ("whole", "around", "no")
    return Examination(
        probes={
            "operation": {s.index: float(OPERATIONS.index(s.operation)) for s in chain.steps[1:] if s.operation},
            "orientation": {s.index: float(s.orientation is not None) for s in chain.steps[1:]},
            "compared": {s.index: float(compared.index(s.compared)) for s in chain.steps},
            "parent": {s.index: float(s.parent) for s in chain.steps},
            "words": {s.index: float(len(s.instruction)) for s in chain.steps},
            "family": {0: float(len(chain.family)), 1: float(len(chain.variant))},
        }
    )


def answering(answer: Any) -> Any:
    """A detector that answers with this, whatever it sees."""

    @detector("answering", level="image", title="Answering", rule="always")
    def answers(chain: ChainView) -> Examination:
        """Always the same."""
        return answer  # type: ignore[no-any-return]

    return answers


too_sure = answering(Examination((Finding(1, 1.5, "quite sure"),)))
too_late = answering(Examination((Finding(999, 0.5, "later"),)))
outside = answering(Examination((Finding(1, 0.5, "there", Box(0.8, 0.8, 0.5, 0.1)),)))
two_minds = answering(Examination((Finding(1, 0.5, "there"),), cannot_tell="or not"))
no_answer = answering("yes")
