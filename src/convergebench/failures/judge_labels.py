"""Labels from a judge's counts: did the number of things grow by one at every step that requested one more?

The counts are ordinary measurements (`judge-count`, at each step); without them there are no labels. At a step with the
same instruction as the step it started from, the count must be one higher. At any other step that requests a thing, at
least one must be there: how many there were before was not counted. Counts of a judge that was asked several times are
means, so the tolerance is half a thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from convergebench.store.labels import Label, label_id, read_labels
from convergebench.store.queries.examining import step_values
from convergebench.store.records import Records
from convergebench.store.run import Run, is_complete

JUDGED_MODE = "counting"
LEVEL = "object"
METRIC = "judge-count"


class Count(NamedTuple):
    """A judge's count after one step; `value` is None without an answer."""

    step: int
    value: float | None
    key: str
    parent: str
    words: str
    asks_for_one: bool


def judge_labels(run: Run, made: str) -> list[tuple[str, Label]]:
    """The new labels, with their ids."""
    asked = run.manifest.metrics.get(METRIC) if is_complete(run.root) else None
    old = {(label.editor, label.case, label.by, *label.says()) for label in _newest(read_labels(run.journal, "judge"))}
    found = []
    for (editor, case, by), counts in _counts_by_chain(run.journal):
        if asked not in (None, by) or not any(count.asks_for_one for count in counts):
            continue
        present, step, detail = counting_failure(counts)
        label = Label(
            *(editor, case, JUDGED_MODE, LEVEL, present, step),
            last=None,
            shown=step,
            region=None,
            evidence=None,
            confidence=None,
            source="judge",
            by=by,
            detail=detail,
            made=made,
        )
        if (editor, case, by, *label.says()) not in old:
            found.append((label_id(label, made), label))
    return found


def counting_failure(counts: Iterable[Count]) -> tuple[bool | None, int | None, str]:
    """Whether counting failed, at which step first, and a sentence about it."""
    known: dict[str, Count] = {}
    unanswered = []
    for count in counts:
        known[count.key] = count
        if not count.asks_for_one:
            continue
        if count.value is None:
            unanswered.append(str(count.step))
            continue
        before = known.get(count.parent)
        if before is None or before.words != count.words or before.value is None:
            if count.value < 0.5:
                return True, count.step, f"one was asked for at step {count.step} and none is seen"
        elif abs(count.value - before.value - 1) >= 0.5:
            return True, count.step, f"one more was asked for; the count went from {before.value:g} to {count.value:g}"
    if unanswered:
        return None, None, f"no count at step {', '.join(unanswered)}"
    return False, None, ""


def _counts_by_chain(records: Records) -> Iterator[tuple[tuple[str, str, str], list[Count]]]:
    rows = step_values(records, METRIC)
    for chain, group in groupby(rows, key=lambda row: (row.editor, row.case, row.fingerprint)):
        yield (
            chain,
            [
                Count(row.position, row.value, row.step, row.parent, row.instruction, row.operation == "add")
                for row in group
            ],
        )


def _newest(labels: Iterable[Label]) -> Iterable[Label]:
    """The latest label of each chain and judge."""
    return {(label.editor, label.case, label.by): label for label in labels}.values()
