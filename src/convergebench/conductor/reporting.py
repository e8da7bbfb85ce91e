"""Reporting on a run: analyse it as it stands, then write its tables, plots and pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convergebench.conductor.alignment import check_alignment
from convergebench.conductor.analyse import report_input
from convergebench.conductor.measuring import note_sizes
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import PLOTS
from convergebench.metrics import load_metric
from convergebench.progress import Progress
from convergebench.report.html import write_report
from convergebench.report.input import ReportInput
from convergebench.report.latex import write_latex
from convergebench.report.made import alignment
from convergebench.report.page import sections_of
from convergebench.report.plots import NamedChart, charts, write_plots
from convergebench.report.tables import write_tables


@dataclass(frozen=True)
class WrittenReport:
    """A report on the disk, and what it shows."""

    run: Path
    page: Path
    tables: Path
    given: ReportInput


def report(
    root: Path, align: str | None = None, *, plots: Sequence[str] = PLOTS, observer: Observer | None = None
) -> WrittenReport:
    """Tables, plots and pages of a run, under this alignment or else the run's own."""
    observer = observer or Observer()
    align, progress = check_alignment(align), Progress(steps=2)
    with observer.watch("reporting", progress, unit="parts", of="sections"):
        given = report_input(root, align)
        progress.steps += len(sections_of(given))
        progress.chains = len(sections_of(given))
        _count(progress)
        for note in given.notes:
            observer.note(f"note: {note}")
        write_tables(given, root / "tables")
        write_latex(given, root / "tables")
        _count(progress)
        drawn = list(charts(given)) if plots else []
        progress.steps += len(drawn)
        write_plots(given, root / "report" / "plots", plots, drawn=_counted(drawn, progress))
        page = write_report(given, root / "report", section_done=lambda: _count(progress, section=True))
    written = WrittenReport(root, page, root / "tables", given)
    observer.reported(written)
    note_sizes(root, str(alignment(given.manifest)), observer)
    return written


def _count(progress: Progress, *, section: bool = False) -> None:
    progress.steps_done += 1
    progress.steps_called += 1
    progress.chains_done += section


def _counted(drawn: Iterable[NamedChart], progress: Progress) -> Iterator[NamedChart]:
    """The same charts, each counted when it has been drawn."""
    for one in drawn:
        yield one
        _count(progress)


def analysed(root: Path, align: str | None = None) -> ReportInput:
    """What a report would show; nothing is written, and the run may still be going."""
    return report_input(root, check_alignment(align))


def write_measurements(root: Path, metrics: Sequence[str]) -> tuple[Path, dict[str, int]]:
    """The tables alone; where the measurements are, and how many of these metrics lack a value for which reason."""
    given = report_input(root)
    write_tables(given, root / "tables")
    rows, names = given.measurements, [load_metric(name).facts.name for name in metrics]
    missing = rows.filter(rows["metric"].is_in(names) & (rows["status"] != "ok"))
    reasons = missing.group_by("status").len().sort("status")
    return root / "tables" / "measurements.parquet", dict(reasons.iter_rows())
