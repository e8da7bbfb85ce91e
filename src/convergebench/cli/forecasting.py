"""What a run would do, printed instead of done: cases, calls, dollars, hours, and what the images can tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convergebench.analysis.sequential.question import UntilQuestion
    from convergebench.engine.plan import EditorForecast
    from convergebench.engine.prepared import Prepared

LONGEST_NAME = 34


def print_forecast(root: Path, prepared: Prepared, until: UntilQuestion | None = None) -> None:
    """Say what is left to do, editor by editor; and what a question, if there is one, may need of it."""
    from convergebench.cli.display import say
    from convergebench.conductor.expecting import seconds_after_editing
    from convergebench.editors import base as editors
    from convergebench.engine.plan import forecast, hours_in_all
    from convergebench.errors import Prerequisite
    from convergebench.metrics import load_metric
    from convergebench.metrics.readiness import lacks
    from convergebench.progress import duration
    from convergebench.store.run import is_run

    done: dict[tuple[str, str], int] = {}
    if is_run(root):
        from convergebench.store.frames import RunFrames

        frames = RunFrames(root)
        done = frames.steps_done()
        frames.close()
    rows = forecast(prepared.chains, prepared.editors, done)
    for reason in prepared.left_out:
        say(f"left out: {reason}")
    cases = len({chain.case.id for chain in prepared.chains})
    say(f"{root}: {len(prepared.sources)} images, {len(prepared.edits)} edits, {cases} cases, "
        f"{len(prepared.chains)} chains, {len(prepared.metrics)} metrics")  # fmt: skip
    width = min(LONGEST_NAME, max(len(row.editor) for row in rows))
    say(f"{'editor':<{width}}  {'chains':>8} {'calls left':>11} {'dollars':>11} {'time':>9}")
    for row in rows:
        say(_forecast_line(row, width))
    needs = {name: editors.lacks(editor) for name, editor in prepared.editors.items()}
    needs |= {name: lacks(load_metric(name).facts) for name in prepared.metrics}
    for name, reasons in needs.items():
        if reasons:
            say(f"before {name} can run: {'; '.join(reasons)}")
    for name in prepared.asked_roles:
        try:
            prepared.roles[name].ready()
        except Prerequisite as error:
            say(f"before the {name} can answer: {error}")
    for notice in dict.fromkeys(one for editor in prepared.editors.values() for one in editors.notices(editor)):
        say(f"note: {notice}")
    known = [row.dollars for row in rows if row.dollars is not None]
    more = " plus calls of unknown price" if len(known) < len(rows) else ""
    took = duration(3600 * hours_in_all(rows, prepared.editors))
    say(f"at most {sum(row.calls for row in rows):,} calls, ${sum(known):,.2f}{more}, about {took} "
        "(editors run in parallel; retries not included)")  # fmt: skip
    after = seconds_after_editing(prepared, steps=sum(row.calls for row in rows))
    say(f"then measuring and the report: about {duration(after)} on this machine")
    for line in [*_questions(prepared), *(_power(root, prepared) if until is None else _saving(root, prepared, until))]:
        say(line)


def _saving(root: Path, prepared: Prepared, until: UntilQuestion) -> list[str]:
    from convergebench.conductor.until_forecast import saving_lines

    return saving_lines(root, prepared, until)


def _questions(prepared: Prepared) -> list[str]:
    """What questions to roles cost on top, role by role; a metric's that cost nothing are left out."""
    from convergebench.engine.plan_questions import forecast_questions
    from convergebench.measuring.measure import split_metrics

    lines = []
    for row in forecast_questions(prepared.chains, split_metrics(prepared.metrics)[1], prepared.roles):
        if row.dollars != 0 or row.role in prepared.study_roles:
            number = "an unknown number of" if row.questions is None else f"at most {row.questions:,}"
            dollars = "at an unknown price" if row.dollars is None else f"${row.dollars:,.2f}"
            lines.append(f"on top: {number} questions to the {row.role}, {dollars}")
    return lines


def _power(root: Path, prepared: Prepared) -> list[str]:
    """What the images can tell about the editors: planned, and by the spread that the run has seen."""
    from convergebench.analysis.power import plan_lines, seen_lines
    from convergebench.conductor.analyse import report_input
    from convergebench.store.run import is_complete
    from convergebench.studies.analysis_settings import analysis_settings

    settings = analysis_settings(prepared.spec)
    abilities = [editor.capabilities for editor in prepared.editors.values()]
    rivals = [one for one in abilities if one.instructed and not one.simulated] or [
        one for one in abilities if one.instructed
    ]
    lines = plan_lines(
        len(prepared.sources),
        len(rivals or abilities),
        confidence=settings.confidence,
        exact_up_to=settings.exact_sources,
        permutations=settings.permutations,
    )
    return [*lines, *(seen_lines(report_input(root).analysis.pairwise) if is_complete(root) else [])]


def _forecast_line(row: EditorForecast, width: int) -> str:
    dollars = "unknown" if row.dollars is None else f"{row.dollars:,.2f}"
    from convergebench.progress import duration

    name = row.editor if len(row.editor) <= width else f"{row.editor[: width - 1]}…"
    return f"{name:<{width}}  {row.chains:>8,} {row.calls:>11,} {dollars:>11} {duration(3600 * row.hours):>9}"
