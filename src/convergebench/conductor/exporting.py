"""Exporting a run: as a data set for others, or as a document to send."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from convergebench.conductor.alignment import check_alignment
from convergebench.conductor.analyse import report_input
from convergebench.conductor.observer import Observer
from convergebench.datasets.export import Exported, ExportOptions, ExportProgress
from convergebench.datasets.export import export as write_dataset
from convergebench.datasets.formats import TABLE as FORMATS
from convergebench.errors import StudyError
from convergebench.progress import Progress
from convergebench.registry import suggest


def export(root: Path, out: Path, options: ExportOptions, observer: Observer | None = None) -> Exported:
    """Every picture of a run with all that is known about it, a card, a Croissant file and check sums."""
    observer, progress = observer or Observer(), Progress()
    with ExitStack() as shown:

        def advanced(done: ExportProgress) -> None:
            begun = bool(progress.steps)
            progress.steps, progress.steps_done, progress.steps_called = done.of_pictures, done.pictures, done.pictures
            progress.chains, progress.chains_done = done.of_chains, done.chains
            if not begun:  # a mistake in the command is told without a progress line above it
                shown.enter_context(observer.watch("exporting", progress, unit="pictures"))

        return write_dataset(root, out, options, advanced)


DOCUMENTS = ("html", "pdf")
"""What a run can be sent as; all other forms are data sets."""


def require_form(form: str) -> None:
    """`StudyError` for a form that is neither a document nor a data set."""
    known = (*DOCUMENTS, *FORMATS)
    if form not in known:
        raise StudyError(f"unknown format '{form}'{suggest(form, known)} (--as takes: {', '.join(known)})")


def export_document(
    root: Path, form: str, out: Path | None = None, *, align: str | None = None, most_mb: int = 20
) -> str:
    """Write the report of a run as one file; returns a line that says what was written."""
    target = out or Path(f"{root.resolve().name}.{form}")
    if target.is_dir() or target.suffix.lower() != f".{form}":
        raise StudyError(
            f"--out {target}: --as {form} writes one file; name it, e.g. --out {root.resolve().name}.{form}"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    given = report_input(root, check_alignment(align))
    if form == "pdf":
        from convergebench.report.one_page import write_pdf

        write_pdf(given, target)
        return f"{target}: one page, {_size(target)}"
    from convergebench.report.one_file import write_html

    made = write_html(given, target, most_mb * 1_000_000)
    left = f"; {made.left_out:,} pictures left out to stay under {most_mb} MB (--max-mb)" if made.left_out else ""
    return f"{target}: one file, {_size(target)}, {made.pictures:,} pictures inside{left}"


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"
