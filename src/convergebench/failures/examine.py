"""Examining: every detector on every chain it has not examined yet, over stored images.

Work is split by chain; workers examine and return values, this process writes. A detector's labels of one chain are
written in one transaction together with a mark that it has examined the chain. A chain is examined again by the same
version of a detector only if it has grown; the newer labels then count.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from convergebench.errors import ConvergeBenchError
from convergebench.failures import suits
from convergebench.failures.base import ChainView, DetectorFacts, Examination, Finding, does_not_apply
from convergebench.failures.chain_view import ChainRecord, read_chains, view_of
from convergebench.failures.evidence import cut_evidence
from convergebench.failures.find import checked_examination, find_detector, find_detectors
from convergebench.failures.judge_labels import JUDGED_MODE, judge_labels
from convergebench.processes import results
from convergebench.progress import Progress
from convergebench.registry import error_text
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
from convergebench.store.queries.examining import probes_named
from convergebench.store.run import Run
from convergebench.store.tables import LabelRow, ProbeRow, TableRow


@dataclass(frozen=True, slots=True)
class ExaminationTask:
    """One chain and the detectors that have yet to examine it."""

    chain: ChainRecord
    detectors: tuple[str, ...]


class DetectorAnswer(NamedTuple):
    """One detector's result for a chain, with a crop per finding; or an error message in `fault`."""

    detector: str
    answer: Examination
    evidence: tuple[Evidence, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """The counts of one call of `examine`."""

    chains: int
    """Chains that at least one detector examined."""
    labels: int
    seen: int
    """Labels of failures that are present."""
    faults: tuple[str, ...]
    """Error messages of detectors that failed on a chain; they wrote no label and are run again next time."""


def examine(
    run: Run, detectors: Sequence[str], *, workers: int | None = None, progress: Progress | None = None
) -> Examined:
    """Run every detector on every chain that it has not examined at its present length."""
    progress = progress or Progress()
    found = find_detectors(detectors)
    facts = {name: one.facts for name, one in found.items()}
    _remove_partial_crops(run)
    made = stamp(run.journal)
    tasks = list(_tasks(run, facts))
    progress.chains = len(tasks)
    progress.steps = sum(len(task.detectors) for task in tasks)
    labelled = {(label.editor, label.case, label.mode) for label in read_labels(run.journal, "rule")}
    chains = {(task.chain.editor, task.chain.case): task.chain for task in tasks}
    written: list[Label] = []
    faults: list[str] = []
    for editor, case, answers in results(examine_chain, tasks, workers or os.cpu_count() or 1) if tasks else ():
        chain = chains[editor, case]
        rows: list[TableRow] = []
        for result in answers:
            if result.fault:
                faults.append(result.fault)
                continue
            known = (editor, case, facts[result.detector].name) in labelled
            if result.answer.retry and known:
                continue  # it has been told before, and nothing is new
            rows += _probe_rows(chain, facts[result.detector], result.answer)
            for label, evidence in _labels(chain, facts[result.detector], result, made, known=known):
                rows.append(row_with_crops(run, label, evidence, chain.history, chain.last, *label.says()))
                written.append(label)
        run.journal.commit_now(rows)
        progress.chains_done += 1
        progress.steps_done += len(answers)
        progress.steps_called += len(answers)
    if any(one.name == JUDGED_MODE for one in facts.values()):
        judged = judge_labels(run, made)
        run.journal.commit_now([row_of(identity, label) for identity, label in judged])
        written += [label for _, label in judged]
    return Examined(len(tasks), len(written), sum(label.present is True for label in written), tuple(faults))


def row_with_crops(run: Run, label: Label, evidence: Evidence | None, *key_parts: object) -> LabelRow:
    """Write the label's crops, then return its row; `key_parts` enter the label's id."""
    identity = label_id(label, *key_parts)
    if evidence is None:
        return row_of(identity, label)
    file = evidence_file(identity)
    run.images.put_crop(file, evidence.after)
    if evidence.before is not None:
        run.images.put_crop(source_crop(file), evidence.before)
    return row_of(identity, replace(label, evidence=file))


def _remove_partial_crops(run: Run) -> None:
    """Remove partially written crops of a killed process."""
    for path in (run.root / EVIDENCE).glob(".part-*"):
        path.unlink(missing_ok=True)


def examine_chain(task: ExaminationTask) -> tuple[str, str, list[DetectorAnswer]]:
    """The task of a worker: every detector on one chain. An error is returned and does not affect the others."""
    chain = task.chain
    try:
        view = view_of(chain)
    except ConvergeBenchError as error:
        why = f"{chain.editor}, {chain.case}: {error}"
        return chain.editor, chain.case, [DetectorAnswer(name, Examination(), fault=why) for name in task.detectors[:1]]
    return chain.editor, chain.case, [_run_detector(name, view) for name in task.detectors]


def _run_detector(name: str, view: ChainView) -> DetectorAnswer:
    if not suits(name, ["restorations" if view.restores else "edits"]):
        what = "a restoration should differ from its source" if view.restores else "the chain restores nothing"
        return DetectorAnswer(name, does_not_apply(what))
    try:
        answer = checked_examination(find_detector(name)(view), view.last)
        evidence = tuple(cut_evidence(view, one.shown or 0, one.region) for one in answer.findings)
        return DetectorAnswer(name, answer, evidence)
    except ConvergeBenchError as error:  # a picture that cannot be read
        fault = f"detector '{name}' could not look at {view.editor}, {view.case}: {error}"
    except Exception as error:
        fault = f"detector '{name}' failed on {view.editor}, {view.case}: {error_text(error)}"
    return DetectorAnswer(name, Examination(), fault=fault)


def _tasks(run: Run, facts: Mapping[str, DetectorFacts]) -> Iterator[ExaminationTask]:
    have = {(row.editor, row.case, row.step, row.by) for row in probes_named(run.journal, LOOKED)}
    for chain in read_chains(run.root, run.journal):
        missing = tuple(
            name for name, one in facts.items() if (chain.editor, chain.case, chain.last, one.fingerprint) not in have
        )
        if missing:
            yield ExaminationTask(chain, missing)


def _probe_rows(chain: ChainRecord, facts: DetectorFacts, answer: Examination) -> Iterator[ProbeRow]:
    """The mark that the detector examined the chain, and the values it measured."""
    if not answer.retry:
        applies = 0.0 if answer.does_not_apply else 1.0
        yield ProbeRow(chain.editor, chain.case, chain.last, LOOKED, facts.fingerprint, applies)
    for probe, values in answer.probes.items():
        for step, value in values.items():
            kept = value if math.isfinite(value) else None
            yield ProbeRow(chain.editor, chain.case, step, probe, facts.fingerprint, kept)


def _labels(
    chain: ChainRecord, facts: DetectorFacts, result: DetectorAnswer, made: str, *, known: bool
) -> Iterator[tuple[Label, Evidence | None]]:
    """One per finding, or one for no finding. A failure that cannot occur in a chain has no label."""
    answer = result.answer
    for finding, evidence in zip(answer.findings, result.evidence, strict=True):
        yield _label(chain, facts, made, present=True, detail=finding.detail, finding=finding), evidence
    if answer.cannot_tell:
        yield _label(chain, facts, made, present=None, detail=answer.cannot_tell), None
    elif answer.does_not_apply:
        if known:  # labels of an earlier version of the rule must not count for ever
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
