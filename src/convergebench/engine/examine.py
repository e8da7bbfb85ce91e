"""Examining: chains × detectors − what has been looked at, over stored images.

Work is split by chain; workers look and return values, this process writes. What one detector says of one chain is
written in one piece together with the mark that it has looked, so a chain that has not grown is not examined again by
the same version of a detector. A chain that has grown is, and the newer labels count.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from convergebench.engine.chain_view import ChainRecord, read_chains, view_of
from convergebench.engine.detectors import checked, find_detector, find_detectors
from convergebench.engine.evidence import cut
from convergebench.engine.judge_labels import JUDGED_MODE, judge_labels
from convergebench.engine.pool import results
from convergebench.engine.progress import Progress
from convergebench.errors import ConvergeBenchError
from convergebench.failures.base import ChainView, DetectorFacts, Examination, Finding
from convergebench.registry import told
from convergebench.store.images import write_synced
from convergebench.store.journal import Row
from convergebench.store.labels import (
    EVIDENCE,
    LOOKED,
    Evidence,
    Label,
    evidence_file,
    label_id,
    read_labels,
    row_of,
    source_crop,
    stamp,
)
from convergebench.store.run import Run


@dataclass(frozen=True, slots=True)
class Task:
    """One chain and the detectors that have not seen it."""

    chain: ChainRecord
    detectors: tuple[str, ...]


class Look(NamedTuple):
    """What one detector says of a chain, with a crop per finding; or, instead, what went wrong."""

    detector: str
    answer: Examination
    evidence: tuple[Evidence, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """What was done."""

    chains: int
    """Chains that some detector looked at."""
    labels: int
    seen: int
    """Labels that say that a failure is there."""
    faults: tuple[str, ...]
    """Detectors that slipped, each with its chain; they have left no label and look again next time."""


def examine(
    run: Run, detectors: Sequence[str], *, workers: int | None = None, progress: Progress | None = None
) -> Examined:
    """Let every detector see every chain that it has not seen at its present length."""
    progress = progress or Progress()
    found = find_detectors(detectors)
    facts = {name: one.facts for name, one in found.items()}
    _sweep(run)
    made = stamp(run.journal)
    tasks = list(_tasks(run, facts))
    progress.chains = len(tasks)
    progress.steps = sum(len(task.detectors) for task in tasks)
    labelled = {(label.editor, label.case, label.mode) for label in read_labels(run.journal, "rule")}
    chains = {(task.chain.editor, task.chain.case): task.chain for task in tasks}
    written: list[Label] = []
    faults: list[str] = []
    for editor, case, looks in results(look_at, tasks, workers or os.cpu_count() or 1) if tasks else ():
        chain = chains[editor, case]
        rows: list[Row] = []
        for look in looks:
            if look.fault:
                faults.append(look.fault)
                continue
            rows += _marks(chain, facts[look.detector], look.answer)
            known = (editor, case, facts[look.detector].name) in labelled
            for label, evidence in _labels(chain, facts[look.detector], look, made, known=known):
                rows.append(keep(run, label, evidence, chain.history, chain.last, *label.says()))
                written.append(label)
        run.journal.commit_now(rows)
        progress.chains_done += 1
        progress.steps_done += len(looks)
        progress.steps_called += len(looks)
    if any(one.name == JUDGED_MODE for one in facts.values()):
        judged = judge_labels(run, made)
        run.journal.commit_now([row_of(identity, label) for identity, label in judged])
        written += [label for _, label in judged]
    return Examined(len(tasks), len(written), sum(label.present is True for label in written), tuple(faults))


def keep(run: Run, label: Label, evidence: Evidence | None, *told_apart: object) -> Row:
    """The label's row; its crops are on the disk before the row names them."""
    identity = label_id(label, *told_apart)
    if evidence is None:
        return row_of(identity, label)
    file = evidence_file(identity)
    write_synced(run.root / file, evidence.after)
    if evidence.before is not None:
        write_synced(run.root / source_crop(file), evidence.before)
    return row_of(identity, replace(label, evidence=file))


def _sweep(run: Run) -> None:
    """Remove half-written crops that a killed process left behind."""
    for path in (run.root / EVIDENCE).glob(".part-*"):
        path.unlink(missing_ok=True)


def look_at(task: Task) -> tuple[str, str, list[Look]]:
    """What a worker does: every detector on one chain. A slip is told and spoils nothing else."""
    chain = task.chain
    try:
        view = view_of(chain)
    except ConvergeBenchError as error:
        why = f"{chain.editor}, {chain.case}: {error}"
        return chain.editor, chain.case, [Look(name, Examination(), fault=why) for name in task.detectors[:1]]
    return chain.editor, chain.case, [_look(name, view) for name in task.detectors]


def _look(name: str, view: ChainView) -> Look:
    try:
        answer = checked(find_detector(name)(view), view.last)
        evidence = tuple(cut(view, one.shown or 0, one.region) for one in answer.findings)
        return Look(name, answer, evidence)
    except ConvergeBenchError as error:  # a picture that cannot be read
        fault = f"detector '{name}' could not look at {view.editor}, {view.case}: {error}"
    except Exception as error:
        fault = f"detector '{name}' failed on {view.editor}, {view.case}: {told(error)}"
    return Look(name, Examination(), fault=fault)


def _tasks(run: Run, facts: Mapping[str, DetectorFacts]) -> Iterator[Task]:
    query = 'select editor, "case", step, "by" from probes where probe = ?'
    have = set(run.journal.rows(query, (LOOKED,)))
    for chain in read_chains(run.root, run.journal):
        missing = tuple(
            name for name, one in facts.items() if (chain.editor, chain.case, chain.last, one.fingerprint) not in have
        )
        if missing:
            yield Task(chain, missing)


def _marks(chain: ChainRecord, facts: DetectorFacts, answer: Examination) -> Iterator[Row]:
    """That it has looked, and the numbers it looked at."""
    applies = 0.0 if answer.does_not_apply else 1.0
    yield ("probes", (chain.editor, chain.case, chain.last, LOOKED, facts.fingerprint, applies))
    for probe, values in answer.probes.items():
        for step, value in values.items():
            kept = value if math.isfinite(value) else None
            yield ("probes", (chain.editor, chain.case, step, probe, facts.fingerprint, kept))


def _labels(
    chain: ChainRecord, facts: DetectorFacts, look: Look, made: str, *, known: bool
) -> Iterator[tuple[Label, Evidence | None]]:
    """One per finding, or one that says that there is none. What cannot happen in a chain has no label."""
    answer = look.answer
    for finding, evidence in zip(answer.findings, look.evidence, strict=True):
        yield _label(chain, facts, made, present=True, detail=finding.detail, finding=finding), evidence
    if answer.cannot_tell:
        yield _label(chain, facts, made, present=None, detail=answer.cannot_tell), None
    elif answer.does_not_apply:
        if known:  # an earlier version of the rule thought otherwise, and its labels would count for ever
            yield _label(chain, facts, made, present=None, detail=f"does not apply: {answer.does_not_apply}"), None
    elif not answer.findings:
        yield _label(chain, facts, made, present=False), None


def _label(
    chain: ChainRecord,
    facts: DetectorFacts,
    made: str,
    *,
    present: bool | None,
    detail: str = "",
    finding: Finding | None = None,
) -> Label:
    return Label(
        editor=chain.editor,
        case=chain.case,
        mode=facts.name,
        level=facts.level,
        present=present,
        step=finding.step if finding else None,
        last=finding.last if finding else None,
        shown=finding.shown if finding else None,
        region=finding.region if finding else None,
        evidence=None,
        confidence=finding.confidence if finding else None,
        source="rule",
        by=facts.fingerprint,
        detail=detail,
        made=made,
    )
