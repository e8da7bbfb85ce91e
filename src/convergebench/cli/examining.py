"""`cbench examine` and `cbench label`: failures that have names, found by rules and by people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from convergebench.cli.flags import MOST_WORKERS

if TYPE_CHECKING:
    from convergebench.engine.examine import Examined
    from convergebench.store.run import Run


def examine(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    detector: Annotated[
        list[str] | None,
        typer.Option("--detector", "-d", help="Detector, or module:name for your own; repeat [default: all]"),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=MOST_WORKERS, help="Processes [default: all cores]")] = None,
) -> None:
    """Look for failures that have names in every chain of a run."""
    from convergebench.cli.display import rows_as_text, say
    from convergebench.engine.detectors import find_detectors
    from convergebench.errors import StudyError
    from convergebench.store.run import Run

    wanted = detector or ["all"]
    with Run.existing(run) as opened:
        find_detectors(_expanded(wanted))  # whoever mistypes a name hears of it before anything is written
        _record(opened)
        done = look_for(opened, wanted, workers=workers)
    rows = _found(run)
    if rows:
        say(rows_as_text(rows))
    say(f"{_many(done.labels, 'label')} added, {done.seen:,} of them failures (next: cbench report {run})")
    if done.faults:
        raise StudyError(slips(done))


def look_for(run: Run, detectors: list[str], *, workers: int | None = None) -> Examined:
    """Examine every chain of an open run by these detectors (`all`: every one there is)."""
    from convergebench.cli.display import watch
    from convergebench.engine.examine import examine as look
    from convergebench.engine.progress import Progress

    progress = Progress()
    with watch("examining", progress, unit="looks"):
        return look(run, _expanded(detectors), workers=workers, progress=progress)


def slips(done: Examined) -> str:
    """Which detector slipped where, in one line; empty if none did."""
    if not done.faults:
        return ""
    more = f" (and {len(done.faults) - 1:,} more)" if len(done.faults) > 1 else ""
    return f"{done.faults[0]}{more}; all else is kept. Mend it and examine again, or leave it out"


def _expanded(detectors: list[str]) -> list[str]:
    """Plug-ins are among all."""
    from convergebench.failures import expand_detectors
    from convergebench.registry import names

    return names("failures") if detectors == ["all"] else expand_detectors(detectors)


def label(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    file: Annotated[Path | None, typer.Argument(help="CSV file of labels to add.")] = None,
    template: Annotated[Path | None, typer.Option(help="Write a CSV file to fill in, and add nothing.")] = None,
) -> None:
    """Add people's failure labels to a run; they count over those of rules and judges."""
    from convergebench.cli.display import say
    from convergebench.engine.people import add_people, read_list, template_rows
    from convergebench.errors import StudyError
    from convergebench.store.people import write_template
    from convergebench.store.run import Run

    if (file is None) == (template is None):
        raise StudyError(f"say cbench label {run} FILE.csv to add labels, or --template FILE.csv for a file to fill in")
    with Run.existing(run) as opened:
        if template is not None:
            count = write_template(template, template_rows(opened.journal, opened.root))
            say(f"{template}: {_many(count, 'row')} to fill in (next: cbench label {run} {template})")
            return
        assert file is not None
        listed = read_list(opened, file)
        added = add_people(opened, listed.labels)
        if added:
            _record(opened)
    people = ", ".join(sorted({one.by for one in listed.labels})) or "nobody"
    known = len(listed.labels) - len(added)
    parts = [f"{_many(len(added), 'label')} by {people} added"]
    parts += [f"{known:,} known already"] if known else []
    parts += [f"{_many(listed.unanswered, 'row')} without yes or no left out"] if listed.unanswered else []
    say(f"{'; '.join(parts)} (next: cbench report {run})")


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _record(run: Run) -> None:
    """Every command that writes to a run is in its manifest."""
    from dataclasses import replace

    from convergebench.store.manifest import command_line, session

    run.extend(replace(run.manifest, sessions=[session(command_line())]))


def _found(run: Path) -> list[dict[str, str]]:
    """Per failure mode: in how many chains it was seen, as labels stand now."""
    from convergebench.analysis.failures import verdicts
    from convergebench.store.frames import RunFrames

    frames = RunFrames(run)
    labels = frames.labels()
    frames.close()
    counts: dict[str, list[int]] = {}
    for verdict in verdicts(labels):
        tally = counts.setdefault(verdict.mode, [0, 0, 0])
        tally[{True: 0, False: 1, None: 2}[verdict.present]] += 1
    return [
        {"failure": mode, "seen": f"{seen:,}", "not seen": f"{absent:,}", "cannot be told": f"{unsure:,}"}
        for mode, (seen, absent, unsure) in sorted(counts.items(), key=lambda one: (-one[1][0], one[0]))
    ]
