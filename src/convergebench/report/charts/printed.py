"""Charts for print: the renderer that draws their descriptions with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from convergebench.errors import StudyError
from convergebench.report.charts.base import Chart
from convergebench.report.charts.dots import DotChart
from convergebench.report.charts.heatmap import BLUE, HeatChart
from convergebench.report.charts.labels import spread
from convergebench.report.charts.lines import LineChart
from convergebench.report.charts.scale import whole_ticks
from convergebench.report.charts.series import drawable
from convergebench.report.charts.survival import SurvivalChart, SurvivalCurve, at_risk
from convergebench.report.palette import Style
from convergebench.report.wording import middle

RC_PARAMS: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8a8a90",
    "axes.labelcolor": "#333333",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#ebe6db",
    "grid.linewidth": 0.8,
    "xtick.color": "#56565c",
    "ytick.color": "#56565c",
    "lines.linewidth": 1.8,
    "svg.hashsalt": "convergebench",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "text.parse_math": False,  # names may contain dollar signs
    "savefig.dpi": 200,
}


def draw_figure(chart: Chart) -> Figure:
    """The chart as a matplotlib figure in our style."""
    drawn = Figure(figsize=(6.4, 4.0), layout="constrained")
    FigureCanvasAgg(drawn)
    with mpl.rc_context(RC_PARAMS):  # type: ignore[arg-type]
        draw(chart, drawn)
    return drawn


@singledispatch
def draw(chart: Chart, figure: Figure) -> None:
    """Draw one kind of chart; some kinds exist on pages only."""
    raise StudyError(f"{type(chart).__name__} is drawn on pages only")


@draw.register
def _lines(chart: LineChart, figure: Figure) -> None:
    axes = figure.add_subplot()
    for one in chart.series:
        line = [(point.x, point.value) for point in one.points if drawable(point.value)]
        band = [(p.x, p.low, p.high) for p in one.points if drawable(p.low) and drawable(p.high)]
        axes.plot(*_columns(line, 2), clip_on=False, **_stroke(one.style))
        x, low, high = _columns(band, 3)
        axes.fill_between(x, low, high, color=one.style.light, alpha=0.15, linewidth=0)
    for name, value in chart.shown_levels:
        axes.axhline(value, color="#8a8a90", linewidth=0.8, linestyle=(0, (2, 3)))
        axes.annotate(f"{name} {value:g}", (0, value), (4, 3), textcoords="offset points", fontsize=7, color="#56565c")
    _frame(axes, chart.last, chart.x_title, chart.title)
    axes.set_ylim(*chart.limits)
    ends = [(one.name, one.last, one.style) for one in chart.series]
    _label_ends(axes, [(name, end.value, style) for name, end, style in ends if end and drawable(end.value)])
    note = ", ".join(part for part in (chart.note, chart.beyond) if part)
    if note:
        axes.set_title(note, fontsize=8, loc="left")


@draw.register
def _stairs(chart: SurvivalChart, figure: Figure) -> None:
    axes = figure.add_subplot()
    cases = [case for case in chart.drawn if any(drawable(stair.survival) for stair in case.stairs)]
    ends = []
    for case in cases:
        known = [(one.round, one.survival, one.censored) for one in case.stairs if drawable(one.survival)]
        axes.step(*_columns(known, 3)[:2], where="post", clip_on=False, **_stroke(case.style))
        censored = [stair for stair in known if stair[2]]
        axes.plot(*_columns(censored, 3)[:2], "|", color=case.style.light, markersize=7)
        ends.append((case.name, known[-1][1], case.style))
    _frame(axes, chart.last, chart.x_title, chart.title)
    axes.set_ylim(0, 1.02)
    _label_ends(axes, ends)
    _at_risk(axes, cases, chart)


def _at_risk(axes: Any, cases: Sequence[SurvivalCurve], chart: SurvivalChart) -> None:
    """Under each tick, the number of chains at risk there; 0 after the end of a curve."""
    axes.figure.set_size_inches(6.4, 4.0 + 0.155 * len(cases))
    marks = whole_ticks(chart.last)
    axes.set_xticks(marks)
    axes.set_xlabel(f"{chart.x_title} (ticks: censored); below, chains at risk" + "\n" * (len(cases) + 1))
    below = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "fontsize": 7.5}
    for place, case in enumerate(cases):
        down = -44 - 11 * place
        axes.annotate(middle(case.name, 22), (chart.last, 0), xytext=(14, down), **below)
        for mark in marks:
            axes.annotate(str(at_risk(case, mark)), (mark, 0), xytext=(0, down), ha="center", **below)


@draw.register
def _dots(chart: DotChart, figure: Figure) -> None:
    figure.set_size_inches(6.4, 1.0 + 0.3 * max(1, len(chart.dots)))
    axes = figure.add_subplot()
    for place, dot in enumerate(chart.dots):
        colour = dot.style.light
        if drawable(dot.low) and drawable(dot.high):
            axes.plot([dot.low, dot.high], [place, place], color=colour, alpha=0.55, linewidth=2.5)
        if drawable(dot.value):
            inside = "white" if dot.reference or dot.style.dash else colour
            axes.plot([dot.value], [place], "o", color=colour, markersize=6, markerfacecolor=inside)
            if dot.reference:
                axes.axvline(dot.value, color=colour, linewidth=0.8, linestyle=(0, (2, 4)))
    axes.set_yticks(range(len(chart.dots)), [dot.marked or dot.name for dot in chart.dots])
    axes.set_ylim(len(chart.dots) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.set_xlim(*chart.limits)
    axes.set_xlabel(", ".join(part for part in (chart.title, chart.whiskers) if part))


@draw.register
def _heat(chart: HeatChart, figure: Figure) -> None:
    shades = [[np.nan if cell.shade is None else cell.shade for cell in row] for row in chart.cells]
    size, turned, letters = (0.34, 60, 7) if chart.dense else (0.85, 25, 8)
    figure.set_size_inches(max(4.0, 2.2 + size * len(chart.columns)), 1.5 + (0.2 + size / 6) * len(chart.rows))
    axes = figure.add_subplot()
    colours = LinearSegmentedColormap.from_list("loss", [chart.ground, BLUE]).with_extremes(bad="#ffffff")
    image = axes.imshow(np.array(shades, float), cmap=colours, vmin=0, vmax=1, aspect="auto")
    for row, line in enumerate(chart.cells):
        for column, cell in enumerate(line):
            if cell.shade is None and chart.dense:
                square = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="////", linewidth=0)
                square.set_edgecolor("#d9d4c8")
                axes.add_patch(square)
            colour = "white" if cell.shade is not None and cell.shade > 0.6 else "#1b1b1d"
            axes.text(column, row, cell.text, ha="center", va="center", fontsize=letters, color=colour)
    axes.set_xticks(range(len(chart.columns)), [middle(one, 22) for one in chart.columns], rotation=turned, ha="right")
    axes.set_yticks(range(len(chart.rows)), list(chart.rows), fontsize=letters)
    axes.grid(visible=False)
    if chart.ends is None:
        axes.set_title(chart.title, fontsize=9, loc="left")
        return
    bar = figure.colorbar(image, ax=axes, label=chart.title)
    bar.set_ticks([0, 1], labels=list(reversed(chart.ends)))
    bar.ax.invert_yaxis()


def _columns(rows: Sequence[tuple[float, ...]], count: int) -> list[list[float]]:
    """The rows as `count` columns, also without rows."""
    return [[row[place] for row in rows] for place in range(count)]


def _stroke(style: Style) -> dict[str, Any]:
    """Colour and dashes of a line for matplotlib."""
    dashes = (0, tuple(float(part) for part in style.dash.split())) if style.dash else "-"
    return {"color": style.light, "linestyle": dashes}


def _frame(axes: Any, last: int, x_title: str, y_title: str) -> None:
    axes.set_xlim(0, last)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(x_title)
    axes.set_ylabel(y_title)


def _label_ends(axes: Any, ends: list[tuple[str, float, Style]]) -> None:
    """Names to the right of the lines, moved apart."""
    low, high = axes.get_ylim()
    ends = ends[::-1]  # upwards, so that the first of equal ends is on top
    places = spread([end[1] for end in ends], gap=(high - low) * 0.055, low=low, high=high)
    left, right = axes.get_xlim()
    room = right - left
    for (name, at, style), y in zip(ends, places, strict=True):
        leader = [right, right + 0.03 * room], [at, y]
        axes.plot(*leader, color=style.light, linewidth=1.2, clip_on=False, scalex=False, scaley=False)
        axes.text(right + 0.04 * room, y, middle(name, 26), va="center", fontsize=8)
