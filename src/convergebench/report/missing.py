"""Texts on how many values are missing and why."""

from __future__ import annotations

import polars as pl

from convergebench.analysis.counts import missing_reasons
from convergebench.report.wording import count, grouped

MEANINGS = {
    "all-edited": "the edit changed so much that nothing is left over to look at",
    "already-coloured": "the picture had colour before any was put in",
    "already-grey": "the picture had no colour to take out",
    "cannot-tell": "the judge said that it cannot be told",
    "face-lost": "the source shows a face, this image none; that is worse than any distance and not in the mean",
    "featureless": "the image is too even to be measured",
    "no-answer": "nobody answered after all attempts",
    "no-face": "the source shows no face",
    "no-instruction": "the question needs the words of the edit, and nobody wrote them down",
    "no-reasoning": "the editor gave no summary of what it thought",
    "no-reference": "there is no picture to compare with",
    "no-text": "the source shows no text",
    "no-words": "nobody wrote down what the picture should show before and after this edit",
    "not-checkable": "no rule tells whether this was done",
    "not-finite": "the metric gave no finite number",
    "nothing-asked": "the step asks for no change",
    "nothing-to-undo": "the forward edit had changed nothing",
    "refused": "the judge declined",
    "size": "the sizes differ and alignment is strict",
    "source-unfit": "the source itself cannot be measured by this metric, so this is not the editor's doing",
    "symmetric": "the image looks the same after the transform, so whether it was done cannot be seen",
    "too-slender": "the image is too narrow for the blocks that the metric looks at",
    "too-small": "the image is smaller than the metric needs",
    "unaligned": "the two images could not be laid over each other",
    "unparsable": "the judge's reply was not what was asked for",
    "unreadable": "the image file cannot be read",
}
"""Status of a missing value → its meaning."""


def missing_text(measurements: pl.DataFrame) -> str:
    """`1 value missing: size`, `5 values missing: 3 size, 2 unreadable`; nothing if none is missing."""
    reasons = missing_reasons(measurements)
    if not reasons:
        return ""
    listed = ", ".join(f"{grouped(amount)} {status}" for status, amount in reasons)
    why = reasons[0][0] if len(reasons) == 1 else listed
    return f"{count(sum(amount for _, amount in reasons), 'value')} missing: {why}"


def missing_meanings(measurements: pl.DataFrame) -> list[tuple[str, str]]:
    """(status, meaning) of the reasons that occur; statuses of plug-ins have no meaning here."""
    return [(status, MEANINGS[status]) for status, _ in missing_reasons(measurements) if status in MEANINGS]
