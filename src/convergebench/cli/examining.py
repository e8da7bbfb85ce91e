"""`cbench examine` and `cbench label`: failures that have names, found by rules and by people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from convergebench.cli.flags import MOST_WORKERS


def examine(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    detector: Annotated[
        list[str] | None,
        typer.Option("--detector", "-d", help="Detector, or module:name for your own; repeatable [default: all]"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=MOST_WORKERS, help="Number of processes [default: all cores]")
    ] = None,
) -> None:
    """Look for named failures in every chain of a run."""
    from convergebench.cli.display import rows_as_text
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.examining import examine as examine_run
    from convergebench.conductor.examining import faults_line
    from convergebench.errors import StudyError

    terminal = Terminal()
    done = examine_run(run, detector or ["all"], workers=workers, observer=terminal)
    rows = _found(run)
    if rows:
        terminal.say(rows_as_text(rows))
    terminal.say(f"{_many(done.labels, 'label')} added, {done.seen:,} of them failures (next: cbench report {run})")
    if done.faults:
        raise StudyError(faults_line(done))


def label(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    file: Annotated[Path | None, typer.Argument(help="CSV file of labels to add.")] = None,
    template: Annotated[Path | None, typer.Option(help="Write a CSV file to fill in; adds nothing to the run.")] = None,
) -> None:
    """Add failure labels given by people to a run; they override labels from rules and judges."""
    from convergebench.cli.display import say
    from convergebench.conductor.examining import add_labels, write_label_template
    from convergebench.errors import StudyError

    if (file is None) == (template is None):
        raise StudyError(
            f"type cbench label {run} FILE.csv to add labels, or use --template FILE.csv to get a file to fill in"
        )
    if template is not None:
        count = write_label_template(run, template)
        say(f"{template}: {_many(count, 'row')} to fill in (next: cbench label {run} {template})")
        return
    assert file is not None
    done = add_labels(run, file)
    parts = [f"{_many(done.added, 'label')} by {', '.join(done.people) or 'no one'} added"]
    parts += [f"{done.known:,} already known"] if done.known else []
    parts += [f"{_many(done.unanswered, 'row')} without yes or no skipped"] if done.unanswered else []
    say(f"{'; '.join(parts)} (next: cbench report {run})")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _found(run: Path) -> list[dict[str, str]]:
    """Per failure mode: in how many chains it was seen, as labels stand now."""
    from convergebench.analysis.failures import verdicts
    from convergebench.conductor.examining import read_run_labels

    counts: dict[str, list[int]] = {}
    for verdict in verdicts(read_run_labels(run)):
        tally = counts.setdefault(verdict.mode, [0, 0, 0])
        tally[{True: 0, False: 1, None: 2}[verdict.present]] += 1
    return [
        {"failure": mode, "seen": f"{seen:,}", "not seen": f"{absent:,}", "undecided": f"{unsure:,}"}
        for mode, (seen, absent, unsure) in sorted(counts.items(), key=lambda one: (-one[1][0], one[0]))
    ]
