"""The audit's figures for print: heatmaps, traces, filter risk; the same bytes from the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from convergebench.report.audit.heat import Grid, Key, open_grid
from convergebench.report.audit.lines import split_traces
from convergebench.report.audit.page import MOST_DRAWN, AuditPage
from convergebench.report.input import Row
from convergebench.report.palette import Style, styles
from convergebench.report.plots import Drawing, label_ends, line_style, write_figures
from convergebench.report.wording import middle, number

MOST_LINES = 150
"""Images in one heatmap; more make a picture that no paper holds, and then there is one per editor only."""
KINDS = ("png", "svg")
DRAWN = ("failures", "trace-", "filter-risk-")
"""How the names of our figures begin."""


def write_audit_plots(page: AuditPage, out_dir: Path, *, again: bool = False) -> list[Path]:
    """Write each figure as PNG and SVG; those without data are left out.

    `again`: an audit was written here before. Its figures, of other gaps or metrics, would pass for this one's and go.
    """
    written = write_figures(_figures(page), out_dir, KINDS)
    for path in out_dir.iterdir() if again else ():
        if path.suffix[1:] in KINDS and path.name.startswith(DRAWN) and path not in written:
            path.unlink()
    return written


def _figures(page: AuditPage) -> Iterator[Drawing]:
    grid = open_grid(page)
    editors = list(dict.fromkeys(line[1] for line in grid.lines))
    if 0 < len(grid.lines) <= MOST_LINES:
        for gap in (None, *page.gaps):
            yield "failures" if gap is None else f"failures-gap-{gap}", _heat(grid, grid.lines, gap)
    for editor in editors if len(editors) > 1 else []:
        mine = [line for line in grid.lines if line[1] == editor]
        yield f"failures-editor-{editor}", _heat(grid, mine, None)
    copies, _ = split_traces(page)
    for metric in page.names:
        part = copies.filter(metric=metric).drop_nulls("mean")
        if part.height:
            yield f"trace-{metric}", lambda figure, metric=metric, part=part: _trace(page, metric, part, figure)  # type: ignore[misc]
    for percentile in sorted(page.given.audit.filter_risk["percentile"].unique().to_list()):
        found = page.of_all(page.given.audit.filter_risk, percentile=percentile)
        if any(row["share"] is not None for row in found):
            yield f"filter-risk-{percentile:g}", lambda figure, p=percentile, f=found: _risk(page, p, f, figure)  # type: ignore[misc]


def _heat(grid: Grid, lines: Sequence[Key], gap: int | None) -> Callable[[Figure], None]:
    all_of_them, lines = len(lines), lines[:MOST_LINES]

    def draw(figure: Figure) -> None:
        names = grid.page.names
        cells = [[_value(grid, (*line, metric), gap) for metric in names] for line in lines]
        values = np.array([[cell[0] for cell in row] for row in cells], float)
        several = len({line[1] for line in lines}) > 1
        figure.set_size_inches(max(4.0, 2.6 + 0.34 * len(names)), 1.6 + 0.24 * len(lines))
        axes = figure.add_subplot()
        most = len(grid.page.gaps) if gap is None else 1
        axes.imshow(values, cmap=_blues(), vmin=0, vmax=max(1, most), aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            text = cells[row][column][1]
            if not np.isfinite(value):
                axes.add_patch(_hatched(column, row))
            deep = np.isfinite(value) and value / max(1, most) > 0.6
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7}
            axes.text(column, row, text, color="white" if deep else "#56565c", **style)
        axes.set_xticks(
            range(len(names)), [middle(grid.page.title(name), 22) for name in names], rotation=60, ha="right"
        )
        axes.set_yticks(range(len(lines)), [_line_name(line, several, grid) for line in lines], fontsize=7)
        axes.grid(visible=False)
        title = f"gaps that fail, of {most}" if gap is None else f"Δ{gap}: blue fails, white is right"
        cut = f" (the first {len(lines)} of {all_of_them} images)" if len(lines) < all_of_them else ""
        axes.set_title(title + cut, fontsize=9, loc="left")

    return draw


def _line_name(line: Key, several: bool, grid: Grid) -> str:
    run, editor, source, pair = line
    parts = [run] * grid.several_runs + [editor] * several + [source] + [pair] * grid.several_pairs
    return middle(" · ".join(parts), 40)


def _value(grid: Grid, key: Key, gap: int | None) -> tuple[float, str]:
    """(how many fail, what the cell says); not a number where nothing is known."""
    if gap is None:
        cell = grid.cells.get(key)
        known = cell is not None and cell["known"]
        return (float(cell["failures"]), str(cell["failures"])) if cell is not None and known else (float("nan"), "–")
    row = grid.gaps.get(key, {}).get(gap)
    if row is None or row["failed"] is None:
        return float("nan"), "–"
    return float(row["failed"]), number(row["gap"], 1)


def _blues() -> Any:
    return LinearSegmentedColormap.from_list("failures", ["#ffffff", "#2b6cb0"]).with_extremes(bad="#ffffff")


def _hatched(column: int, row: int) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="////", edgecolor="#d9d4c8", linewidth=0)


def _trace(page: AuditPage, metric: str, part: pl.DataFrame, figure: Figure) -> None:
    axes = figure.add_subplot()
    editors = [editor for editor in page.editors if editor in set(part["editor"].to_list())]
    ends: list[tuple[str, float, Style]] = []
    one = len(editors) == 1
    key = ["source", "pair"] if one else ["editor"]
    groups = part.select(key).unique(maintain_order=True).rows()[:MOST_DRAWN]
    colours = styles([" ".join(group) for group in groups]) if one else page.style
    for group in groups:
        name = " ".join(group)
        mine = part.filter(**dict(zip(key, group, strict=True))).group_by("at").agg(pl.col("mean").mean()).sort("at")
        style = colours[name]
        axes.plot(mine["at"], mine["mean"], color=style.light, linestyle=line_style(style))
        ends.append((name, float(mine["mean"][-1]), style))
    axes.set_xlim(0, max(1, int(part["at"].max() or 1)))  # type: ignore[arg-type]
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(page.unit.many)
    axes.set_ylabel(f"{page.title(metric)}, scaled to 0–100 (↑ better)")
    label_ends(axes, ends)


def _risk(page: AuditPage, percentile: float, found: Sequence[Row], figure: Figure) -> None:
    axes = figure.add_subplot()
    axes.set_ylim(0, 1.02)
    colours = styles(page.names)
    ends = []
    by_metric = {metric: [row for row in found if row["metric"] == metric] for metric in page.names}
    lines = {m: [r for r in part if r["share"] is not None] for m, part in by_metric.items()}
    order = sorted(
        (m for m in lines if lines[m]), key=lambda m: -max(lines[m], key=lambda row: int(row["at"]))["share"]
    )
    for metric in order[:MOST_DRAWN]:
        part = sorted(lines[metric], key=lambda row: int(row["at"]))
        style = colours[metric]
        at, share = [row["at"] for row in part], [row["share"] for row in part]
        axes.plot(at, share, color=style.light, linestyle=line_style(style), marker="o", markersize=3.5)
        ends.append((page.title(metric), part[-1]["share"], style))
    axes.set_xlim(0, max(1, max(row["at"] for row in found)))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(page.unit.many)
    axes.set_ylabel("share of pictures that pass (↓ better)")
    axes.set_title(f"filter at percentile {percentile:g} of untouched pictures", fontsize=9, loc="left")
    label_ends(axes, ends)
