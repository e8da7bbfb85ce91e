"""Examining a run: look for failures that have names, by rules and by people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench.conductor.observer import Observer
from convergebench.failures import expand_detectors, suits
from convergebench.failures.examine import Examined
from convergebench.failures.examine import examine as examine_chains
from convergebench.failures.find import find_detectors
from convergebench.failures.label_sheet import write_template
from convergebench.failures.people_labels import add_people, read_list, template_rows
from convergebench.progress import Progress
from convergebench.registry import names
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import command_line, session
from convergebench.store.run import Run
from convergebench.studies.base import study_of

if TYPE_CHECKING:
    import polars as pl


def examine(
    root: Path, detectors: Sequence[str] = ("all",), *, workers: int | None = None, observer: Observer | None = None
) -> Examined:
    """Let these detectors look at every chain of a run that they have not seen.

    `all` stands for those that suit the run's study, plug-ins among them.
    """
    with Run.existing(root) as run:
        find_detectors(_expanded(detectors, run))  # a mistyped name is refused before anything is written
        record_command(run)
        return examine_open(run, detectors, workers=workers, observer=observer or Observer())


def examine_open(run: Run, detectors: Sequence[str], *, workers: int | None, observer: Observer) -> Examined:
    """The same for a run that is open already."""
    progress = Progress()
    with observer.watch("examining", progress, unit="looks"):
        return examine_chains(run, _expanded(detectors, run), workers=workers, progress=progress)


def faults_line(done: Examined) -> str:
    """Which detector failed where, in one line; empty if none did."""
    if not done.faults:
        return ""
    more = f" (and {len(done.faults) - 1:,} more)" if len(done.faults) > 1 else ""
    return f"{done.faults[0]}{more}; everything else is kept. Fix it and examine again, or leave it out"


def _expanded(detectors: Sequence[str], run: Run) -> list[str]:
    chosen = study_of(run.manifest.study).failures
    suitable = [name for name in names("failures") if suits(name, chosen)]
    expanded = (suitable if name == "all" else expand_detectors([name]) for name in detectors)
    return list(dict.fromkeys(name for part in expanded for name in part))


def record_command(run: Run) -> None:
    """Every command that writes to a run is in its manifest."""
    run.extend(replace(run.manifest, sessions=[session(command_line())]))


@dataclass(frozen=True)
class PeopleAdded:
    """What a file of people's labels added."""

    added: int
    known: int
    """Labels that the run had already."""
    unanswered: int
    """Rows without yes or no."""
    people: tuple[str, ...]


def add_labels(root: Path, file: Path) -> PeopleAdded:
    """Add people's labels to a run; they count over those of rules and judges."""
    with Run.existing(root) as run:
        listed = read_list(run, file)
        added = add_people(run, listed.labels)
        if added:
            record_command(run)
    people = tuple(sorted({one.by for one in listed.labels}))
    return PeopleAdded(len(added), len(listed.labels) - len(added), listed.unanswered, people)


def write_label_template(root: Path, file: Path) -> int:
    """A CSV file to fill in; gives its rows."""
    with Run.existing(root) as run:
        return write_template(file, template_rows(run.journal, run.root))


def read_run_labels(root: Path) -> pl.DataFrame:
    """Every label of a run."""
    frames = RunFrames(root)
    try:
        return frames.labels()
    finally:
        frames.close()
