"""The findings of a run that was made until it is decided, as sentences."""

from __future__ import annotations

from convergebench.analysis.sequential.decide import PairFinding, UntilDecision
from convergebench.analysis.sequential.question import UntilQuestion
from convergebench.analysis.wording import counted, listed

METHODS = {
    "suite": "for the images of this study",
    "bounded": "for images like these",
    "symmetric": "for images like these, if differences lie symmetrically about their mean",
}


def stopped_sentence(found: UntilDecision) -> str:
    """Whether the run is decided, after how many images of how many, and how the order came about."""
    question = found.question
    images = f"{found.images} of {counted(len(question.order), 'image')} in random order (seed {question.seed})"
    if not found.images:
        return f"Not decided yet: no image was run and measured of the {len(question.order)}."
    if found.settled:
        return f"Stopped because the question was decided, after {images}."
    undecided = [f"{one.one} and {one.other}" for one in found.findings if not one.decided]
    if found.finished:
        return f"Not decided: {listed(undecided)} are undecided after {images}, the most that were allowed."
    return f"Not decided yet: {listed(undecided)} are undecided after {images}."


def finding_sentence(one: PairFinding, question: UntilQuestion) -> str:
    """What may be said of one comparison."""
    what = "points" if question.number == "score" else f"points of the area of {question.number}"
    low, high = (-one.high, -one.low) if one.verdict == "behind" else (one.low, one.high)
    ends = f"{100 * (1 - question.error):.3g}% at any time: {signed(low)} to {signed(high)}"
    basis = f"{ends}; {counted(one.images, 'image')}{_apart(one)}; {METHODS[question.method]}"
    limit = f"{question.difference:g}"
    if one.verdict == "open":
        return f"{one.one} and {one.other}: no decision ({basis})."
    if one.verdict == "alike":
        return f"{one.one} and {one.other} do not differ by {limit} {what} or more ({basis})."
    first, second = (one.one, one.other) if one.verdict == "ahead" else (one.other, one.one)
    small = f", which is less than {limit}" if one.within else ""
    size = "" if one.difference is None else f" by {abs(one.difference):.1f} {what}"
    return f"{first} is ahead of {second}{size}{small} ({basis})."


def signed(value: float) -> str:
    """`+3.1`, `−0.4`, `0.0`."""
    return "0.0" if abs(value) < 0.05 else f"{value:+.1f}".replace("-", "−")


def _apart(one: PairFinding) -> str:
    parts = [f"{one.missing} of them cannot be compared"] if one.missing else []
    why = "ended early, since their last rounds could not change the verdict" if one.decided else "not finished"
    parts += [f"{one.partial} of them {why}"] if one.partial else []
    return f", {' and '.join(parts)}" if parts else ""
