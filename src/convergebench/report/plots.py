"""The page's charts for print: the same descriptions drawn by matplotlib, byte-identical for equal numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from convergebench.errors import StudyError
from convergebench.registry import suggest
from convergebench.report.charts import printed_effects, printed_rated  # noqa: F401  (makes their charts drawable)
from convergebench.report.charts.base import Chart
from convergebench.report.charts.printed import RC_PARAMS, draw_figure
from convergebench.report.input import ReportInput
from convergebench.report.output import make_whole
from convergebench.report.page import open_page

LONGEST = 120
"""Longest file name, in letters; file systems take about 250, and temporary names are longer."""
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": "ConvergeBench"},
    "pdf": {"CreationDate": None, "Creator": "ConvergeBench", "Producer": None},
}

NamedChart = tuple[str, Chart]
"""The name of a figure, and its chart."""
ALIASES = {"curves": "curve-", "survival": "survival-"}
"""Name of a section → prefix of its figures; the first is that of the headline metric."""


def charts(given: ReportInput) -> Iterator[NamedChart]:
    """The charts of a run's sections that are also drawn for print."""
    page = open_page(given)
    for section in page.sections:
        if hasattr(section, "figures"):
            yield from section.figures(page)


def figure(name: str, given: ReportInput) -> Figure:
    """One figure of a run for matplotlib: `ranking`, `curves`, `curve-lpips`, `survival`, `breakdown`."""
    known = dict(charts(given))
    found = next((one for one in known if one == name or one.startswith(ALIASES.get(name, "\0"))), None)
    if found is None:
        names = [*(alias for alias, start in ALIASES.items() if any(one.startswith(start) for one in known)), *known]
        raise StudyError(f"there is no figure '{name}'{suggest(name, names)} (there are: {', '.join(names) or 'none'})")
    return draw_figure(known[found])


def write_plots(
    given: ReportInput,
    out_dir: Path,
    kinds: Sequence[str] = tuple(_METADATA),
    *,
    drawn: Iterable[NamedChart] | None = None,
) -> list[Path]:
    """Write curves per metric, survival per curve, ranking and breakdown; figures without data are left out.

    Figures of an earlier report that were not drawn again are deleted. `drawn`: the run's charts, where the caller has
    them already.
    """
    written = write_figures((charts(given) if drawn is None else drawn) if kinds else (), out_dir, kinds)
    for path in out_dir.iterdir():
        if path.suffix[1:] in _METADATA and path not in written:
            path.unlink()
    return written


def write_figures(charts: Iterable[NamedChart], out_dir: Path, kinds: Sequence[str] = tuple(_METADATA)) -> list[Path]:
    """Draw each chart and write it in each of the kinds (png, svg, pdf)."""
    out_dir.mkdir(parents=True, exist_ok=True)
    written = []
    taken: set[str] = set()
    with mpl.rc_context(RC_PARAMS):  # type: ignore[arg-type]
        for name, chart in charts:
            figure = draw_figure(chart)
            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # laid out once for all formats: that is half of the time
            stem = _stem(name, taken)
            for kind in kinds:
                written.append(out_dir / f"{stem}.{kind}")
                make_whole(written[-1], lambda part, figure=figure, kind=kind: _save(figure, part, kind))  # type: ignore[misc]
    return written


def _stem(name: str, taken: set[str]) -> str:
    """A unique file name of plain letters, not too long."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", name)
    if len(stem) > LONGEST or stem.lower() in taken:
        stem = f"{stem[:LONGEST]}-{blake2b(name.encode(), digest_size=4).hexdigest()}"
    taken.add(stem.lower())  # some file systems ignore case
    return stem


def _save(figure: Figure, path: Path, kind: str) -> None:
    figure.savefig(path, format=kind, metadata=_METADATA[kind])
