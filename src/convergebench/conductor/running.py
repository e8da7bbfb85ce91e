"""Running a study: plan it, edit, walk the stages that the study names, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from convergebench.analysis.sequential.question import UntilQuestion
from convergebench.backends.base import Backend
from convergebench.backends.find import open_backend
from convergebench.conductor.begin import begin, compare_replicates
from convergebench.conductor.checks import check_analysis, check_parts, check_ready
from convergebench.conductor.deciding import decide_run
from convergebench.conductor.editing import EditingOutcome, all_failed, edit, note_failures, note_unsettled
from convergebench.conductor.expecting import seconds_after_editing
from convergebench.conductor.measuring import note_sizes, place_for
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import RunOptions
from convergebench.conductor.placing import placed
from convergebench.conductor.prepare import prepare
from convergebench.conductor.stages.base import Stage, StageContext, WorkAlongside, stage_code, stages_of
from convergebench.conductor.study import require_names
from convergebench.conductor.tracking import Tracking
from convergebench.conductor.until_question import question_for, require_until
from convergebench.engine.prepared import Prepared
from convergebench.roles.base import Role
from convergebench.store.run import Run
from convergebench.store.spec_merge import kept_amounts
from convergebench.studies.base import load_study
from convergebench.studies.spec import StudySpec
from convergebench.types import Editor, SourceImage

MOST_LEFT_OUT = 12
"""Most lines about what is left out."""


@dataclass(frozen=True)
class Plan:
    """A study that was checked and could be run; nothing is begun."""

    root: Path
    prepared: Prepared
    stages: tuple[Stage, ...]
    notes: tuple[str, ...]
    """What is worth knowing about its constants."""
    stage_lines: tuple[str, ...]
    """What the stages will do."""
    until: UntilQuestion | None = None
    """What is to be decided; None: everything is run."""


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended."""

    root: Path
    statuses: Mapping[str, int] = field(default_factory=dict)
    """How many chains ended in which way."""
    stopped: str | None = None
    """Why it ended before its time, or None; the same call goes on."""
    interrupted: bool = False
    failed: str = ""
    """One line if no chain was finished; else empty."""
    reason: str = ""
    """Why the first of the failed chains failed."""


def plan(
    spec: StudySpec,
    root: Path,
    *,
    editors: Mapping[str, Editor] | None = None,
    sources: Sequence[SourceImage] | None = None,
    roles: Mapping[str, Role] | None = None,
    until: str | None = None,
) -> Plan:
    """Check everything that can be checked without a call.

    `editors` and `roles` are objects that stand behind names of the study; `sources` are images in place of its suite.
    `until="decided"`: images are run until the question of the study's `[until]` is decided.
    """
    require_names(root)
    require_until(until)
    prepared = prepare(spec, editors=editors, sources=sources, roles=roles)
    notes = check_analysis(prepared)
    check_parts(load_study(spec.study))
    stages = stages_of(prepared)
    lines: list[str] = []
    for stage in stages:
        with stage_code(stage):
            lines += stage.check(prepared)
    question = question_for(prepared, spec.until, root) if until else None
    return Plan(root, prepared, tuple(stages), tuple(notes), tuple(lines), question)


def run(planned: Plan, options: RunOptions | None = None, observer: Observer | None = None) -> RunOutcome:
    """Edit, then walk the stages of the study; the same call goes on where it was stopped."""
    options, observer = options or RunOptions(), observer or Observer()
    with (
        Tracking(options.track or planned.prepared.spec.get("track", {}).get("with", ""), observer) as tracking,
        open_backend(options.backend, options.address, lambda line: observer.note(f"note: {line}")) as backend,
    ):
        return _run(planned, options, observer, tracking, backend)


def _run(planned: Plan, options: RunOptions, observer: Observer, tracking: Tracking, backend: Backend) -> RunOutcome:
    root, prepared = planned.root, placed(planned.prepared, backend)
    for line in planned.notes:
        observer.note(f"note: {line}")
    for line in prepared.left_out[:MOST_LEFT_OUT]:
        observer.note(f"left out: {line}")
    if len(prepared.left_out) > MOST_LEFT_OUT:
        observer.note(f"left out: {len(prepared.left_out) - MOST_LEFT_OUT} more; the report lists them")
    check_ready(prepared, observer)
    place_for(
        prepared.metrics, options.device, prepared.precision, backend
    )  # a device that is not there is refused now
    halted: list[str] = []
    with Run.create(root) as opened, ExitStack() as working:
        if options.store or options.cache_mb is not None:
            opened.keep_at(options.store, cache_mb=options.cache_mb)
        manifest = begin(opened, prepared)
        tracking.begin(root, prepared)
        more = kept_amounts(prepared.spec, manifest.spec)
        if more:
            observer.note(f"note: {root} keeps what earlier commands asked for: {', '.join(more)}; nothing is removed")
        context = StageContext(root, prepared, options, observer, opened, backend)
        beginning = [] if planned.until else _beginning(planned.stages, context)
        for begun in beginning:
            working.enter_context(begun)

        def chain_grew(editor: str, case: str) -> None:
            for begun in beginning:
                begun.chain_grew(editor, case)

        def walk(chosen: Prepared) -> EditingOutcome:
            return edit(
                opened,
                chosen,
                observer=observer,
                max_cost=options.max_cost,
                reuse=options.reuse,
                chain_grew=chain_grew,
                then="measuring and the report" if options.report else "measuring",
                then_seconds=seconds_after_editing(chosen, workers=options.workers, report=options.report),
            )

        edits = walk(prepared) if planned.until is None else decide_run(context, planned.until, walk)
        if any(chain.case.replicate for chain in prepared.chains):
            compare_replicates(opened)
        note_failures(opened, observer)
        note_unsettled(opened.journal, observer)
        failed = all_failed(opened, prepared)
        reason = next((row.detail for row in opened.journal.chains().values() if row.status == "failed"), "")
        if edits.interrupted:
            return RunOutcome(root, edits.statuses, edits.stopped, interrupted=True)
        halted += _walk([stage for stage in planned.stages if not stage.pages], context)
    if options.report:
        from convergebench.conductor.reporting import report

        written = report(root, plots=options.plots, observer=observer)
        tracking.result(written.given, written.page)
    else:
        if tracking.name:
            from convergebench.conductor.reporting import analysed

            tracking.result(analysed(root), None)
        note_sizes(root, prepared.spec["measure"]["align"], observer)
    stopped = next(iter([edits.stopped] if edits.stopped else halted), None)
    if failed and stopped is None:
        return RunOutcome(root, edits.statuses, failed=failed, reason=reason)
    if options.report:
        context = StageContext(root, prepared, options, observer, None)
        halted += _walk([stage for stage in planned.stages if stage.pages], context)
    stopped = stopped or next(iter(halted), None)
    tracking.status = "finished" if stopped is None else stopped
    return RunOutcome(root, edits.statuses, stopped)


def _beginning(stages: Sequence[Stage], context: StageContext) -> list[WorkAlongside]:
    found = []
    for stage in stages:
        with stage_code(stage):
            begun = stage.begin(context)
        if begun is not None:
            found.append(begun)
    return found


def _walk(stages: Sequence[Stage], context: StageContext) -> list[str]:
    """Carry out stages in order; why they stopped."""
    reasons = []
    for stage in stages:
        with stage_code(stage):
            reasons.append(stage(context))
    return [reason for reason in reasons if reason]
