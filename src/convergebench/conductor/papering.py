"""Runs as LaTeX for a paper."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from convergebench.conductor.alignment import check_alignment
from convergebench.conductor.analyse import report_input
from convergebench.conductor.observer import Observer
from convergebench.errors import StudyError
from convergebench.progress import Progress
from convergebench.report.bundle.write import WrittenBundle, check_folder, write_bundle
from convergebench.report.input import ReportInput
from convergebench.store.run import require_run


def default_folder(roots: Sequence[Path]) -> Path:
    """`paper-RUN` in the current folder."""
    return Path(f"paper-{roots[0].resolve().name}")


def write_paper(
    roots: Sequence[Path], into: Path | None = None, align: str | None = None, *, observer: Observer | None = None
) -> WrittenBundle:
    """The tables, figures and numbers of these runs as a folder of LaTeX."""
    observer, align = observer or Observer(), check_alignment(align)
    if not roots:
        raise StudyError("name at least one run")
    target = into or default_folder(roots)
    check_folder(target, roots)  # both before the work
    for root in roots:
        require_run(root)
    progress = Progress(steps=len(roots) + 1, chains=len(roots))
    runs: dict[str, ReportInput] = {}
    with observer.watch("writing", progress, unit="parts", of="runs"):
        for root in dict.fromkeys(root.resolve() for root in roots):
            given = report_input(root, align)
            for note in given.notes:
                observer.note(f"note: {note}")
            runs[_name(root, runs)] = given
            progress.steps_done += 1
            progress.steps_called += 1
            progress.chains_done += 1
        words = ["cbench", "paper", *(str(root) for root in roots), *(["--into", str(target)] if into else [])]
        made = write_bundle(runs, target, shlex.join([*words, *(["--align", align] if align else [])]))
        progress.steps_done += 1
        progress.steps_called += 1
    return made


def _name(root: Path, taken: dict[str, ReportInput]) -> str:
    """The name of the folder, with its parent's where two runs have the same."""
    name = root.name
    return name if name not in taken else f"{root.parent.name}-{name}-{len(taken) + 1}"
