"""What a judge's counts say: did the number of things grow by one at every step that asked for one more?

The counts are measurements like any other (`judge-count`, at each step); where nobody was asked, there is nothing to
say. At a step whose words are those of the step it started from, the count must be one higher than there. At any other
step that asks for a thing at least one of it must be there: how many there were before was not counted. Counts of a
judge that was asked several times are means, so half a thing is the margin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from convergebench.store.journal import Records
from convergebench.store.labels import Label, label_id, read_labels
from convergebench.store.run import Run, is_complete

JUDGED_MODE = "counting"
LEVEL = "object"
METRIC = "judge-count"


class Count(NamedTuple):
    """How many a judge saw after one step; None: no answer."""

    step: int
    value: float | None
    key: str
    parent: str
    words: str
    asks_for_one: bool


def judge_labels(run: Run, made: str) -> list[tuple[str, Label]]:
    """Labels that are not there yet, with their keys."""
    asked = run.manifest.metrics.get(METRIC) if is_complete(run.root) else None
    have = {(label.editor, label.case, label.by, *label.says()) for label in _newest(read_labels(run.journal, "judge"))}
    found = []
    for (editor, case, by), counts in _counted(run.journal):
        if asked not in (None, by) or not any(count.asks_for_one for count in counts):
            continue
        present, step, detail = judged(counts)
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
        if (editor, case, by, *label.says()) not in have:
            found.append((label_id(label, made), label))
    return found


def judged(counts: Iterable[Count]) -> tuple[bool | None, int | None, str]:
    """Whether counting failed, at which step first, and what was seen."""
    known: dict[str, Count] = {}
    silent = []
    for count in counts:
        known[count.key] = count
        if not count.asks_for_one:
            continue
        if count.value is None:
            silent.append(str(count.step))
            continue
        before = known.get(count.parent)
        if before is None or before.words != count.words or before.value is None:
            if count.value < 0.5:
                return True, count.step, f"one was asked for at step {count.step} and none is seen"
        elif abs(count.value - before.value - 1) >= 0.5:
            return True, count.step, f"one more was asked for; the count went from {before.value:g} to {count.value:g}"
    if silent:
        return None, None, f"no count at step {', '.join(silent)}"
    return False, None, ""


def _counted(records: Records) -> Iterator[tuple[tuple[str, str, str], list[Count]]]:
    # a step that was not asked about must not pass for one that went well: every step of a counted chain is looked at
    rows = records.rows(
        """with counted as (select distinct k.editor, k."case", m.fingerprint from measurements m
                            join comparisons k on k.id = m.comparison and k.role = 'step' where m.metric = ?1)
           select d.editor, d."case", d.fingerprint, k.step, m.value, s.id, s.parent, s.instruction, k.operation = 'add'
           from counted d join comparisons k on k.editor = d.editor and k."case" = d."case" and k.role = 'step'
           join chain_steps p on p.editor = k.editor and p."case" = k."case" and p.position = k.step
           join steps s on s.id = p.step
           left join measurements m on m.comparison = k.id and m.metric = ?1 and m.fingerprint = d.fingerprint
           order by 1, 2, 3, 4""",
        (METRIC,),
    )
    for chain, group in groupby(rows, key=lambda row: row[:3]):
        yield chain, [Count(*row[3:])._replace(asks_for_one=bool(row[-1])) for row in group]


def _newest(labels: Iterable[Label]) -> Iterable[Label]:
    """The last word on each chain."""
    return {(label.editor, label.case, label.by): label for label in labels}.values()
