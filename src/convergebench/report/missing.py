"""Texts on how many values are missing and why."""

from __future__ import annotations

import polars as pl

from convergebench.analysis.counts import missing_reasons
from convergebench.report.wording import count, grouped

MEANINGS = {
    "all-edited": "the edit changed so much that no unedited area is left to measure",
    "already-coloured": "the image already had colour",
    "already-grey": "the image already had no colour",
    "cannot-tell": "the judge answered that it cannot tell",
    "face-lost": "the source shows a face and this image does not; counted apart from the mean",
    "featureless": "the image is too uniform to be measured",
    "no-answer": "no reply after all attempts",
    "no-face": "the source shows no face",
    "no-instruction": "the question needs the edit's instruction, which was not recorded",
    "no-reasoning": "the editor returned no reasoning summary",
    "no-reference": "there is no reference image",
    "no-text": "the source shows no text",
    "no-words": "this edit has no description of what the image should show before and after it",
    "not-checkable": "no rule can check this edit",
    "not-finite": "the metric gave no finite number",
    "nothing-asked": "the step asks for no change",
    "nothing-to-undo": "the forward edit had changed nothing",
    "refused": "the judge declined",
    "size": "the sizes differ and alignment is strict",
    "source-unfit": "the source itself cannot be measured by this metric, so the editor is not at fault",
    "symmetric": "the image is symmetric, so the transform cannot be seen",
    "too-slender": "the image is narrower than the blocks of the metric",
    "too-small": "the image is smaller than the metric needs",
    "unaligned": "the two images could not be aligned",
    "unparsable": "the judge's reply did not have the requested format",
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
