"""The same figures for print: PNG, SVG and PDF, the same bytes from the same numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from convergebench.metrics.base import MetricFacts
from convergebench.report.charts.labels import spread
from convergebench.report.charts.ranking import LEAST, ROOM
from convergebench.report.charts.scale import least_span, span, whole_ticks, within
from convergebench.report.charts.series import drawable, endless_names
from convergebench.report.files import make_whole
from convergebench.report.input import ReportInput, Row, rows
from convergebench.report.palette import Style, styles
from convergebench.report.sections.breakdown import DEEPEST
from convergebench.report.wording import axis_title, group_name, middle, number

LOOK: dict[str, Any] = {
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
    "text.parse_math": False,  # a dollar in a name is a dollar
    "savefig.dpi": 200,
}
MOST_DRAWN = 12
LONGEST = 120
"""Letters of a file's name; disks take some 250, and a temporary one is longer."""
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": "ConvergeBench"},
    "pdf": {"CreationDate": None, "Creator": "ConvergeBench", "Producer": None},
}


Drawing = tuple[str, Callable[[Figure], None]]
"""The name of a figure, and what draws it."""


def write_plots(given: ReportInput, out_dir: Path, kinds: Sequence[str] = tuple(_METADATA)) -> list[Path]:
    """Write curves per metric, survival per curve, ranking and breakdown; figures without data are left out.

    Figures of an earlier report that were not drawn again would pass for this one's, and go.
    """
    written = write_figures(_figures(given) if kinds else (), out_dir, kinds)
    for path in out_dir.iterdir():
        if path.suffix[1:] in _METADATA and path not in written:
            path.unlink()
    return written


def write_figures(figures: Iterable[Drawing], out_dir: Path, kinds: Sequence[str] = tuple(_METADATA)) -> list[Path]:
    """Draw each figure and write it in each of the kinds (png, svg, pdf)."""
    out_dir.mkdir(parents=True, exist_ok=True)
    written = []
    taken: set[str] = set()
    with mpl.rc_context(LOOK):  # type: ignore[arg-type]
        for name, draw in figures:
            figure = Figure(figsize=(6.4, 4.0), layout="constrained")
            FigureCanvasAgg(figure)
            draw(figure)
            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # placed once: the formats share it, and it is half of the time
            stem = _stem(name, taken)
            for kind in kinds:
                written.append(out_dir / f"{stem}.{kind}")
                make_whole(written[-1], lambda part, figure=figure, kind=kind: _save(figure, part, kind))  # type: ignore[misc]
    return written


def _stem(name: str, taken: set[str]) -> str:
    """A file's name of plain letters, no longer than a disk takes, and no other figure's."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", name)
    if len(stem) > LONGEST or stem.lower() in taken:
        stem = f"{stem[:LONGEST]}-{blake2b(name.encode(), digest_size=4).hexdigest()}"
    taken.add(stem.lower())  # some disks do not tell capitals apart
    return stem


def _save(figure: Figure, path: Path, kind: str) -> None:
    figure.savefig(path, format=kind, metadata=_METADATA[kind])


def _figures(given: ReportInput) -> Iterator[Drawing]:
    analysis, style = given.analysis, styles(given.editors)
    if given.ranked:
        yield "ranking", lambda figure: _ranking(given, style, figure)
    curves = rows(analysis.curves, group="all")
    for metric in dict.fromkeys(
        row["metric"] for row in curves if drawable(row["mean"]) and "-lag" not in row["metric"]
    ):
        yield f"curve-{metric}", lambda figure, metric=metric: _curve(given, style, metric, figure)  # type: ignore[misc]
    for curve in dict.fromkeys(row["curve"] for row in rows(analysis.survival, group="all")):
        yield f"survival-{curve}", lambda figure, curve=curve: _survival(given, style, curve, figure)  # type: ignore[misc]
    if rows(analysis.auc, metric=given.headline_metric):
        yield "breakdown", lambda figure: _breakdown(given, figure)


def _drawn(given: ReportInput) -> list[str]:
    ranked = [row["editor"] for row in given.ranked]
    return list(dict.fromkeys([*ranked, *given.editors]))[:MOST_DRAWN]


def line_style(style: Style) -> Any:
    """The dashes as matplotlib has them."""
    return (0, tuple(float(part) for part in style.dash.split())) if style.dash else "-"


def label_ends(axes: Any, ends: list[tuple[str, float, Style]]) -> None:
    """Names to the right of the lines, moved apart."""
    low, high = axes.get_ylim()
    ends = ends[::-1]  # upwards, so that of equal ends the first is on top
    places = spread([end[1] for end in ends], gap=(high - low) * 0.055, low=low, high=high)
    left, right = axes.get_xlim()
    room = right - left
    for (name, at, style), y in zip(ends, places, strict=True):
        leader = [right, right + 0.03 * room], [at, y]
        axes.plot(*leader, color=style.light, linewidth=1.2, clip_on=False, scalex=False, scaley=False)
        axes.text(right + 0.04 * room, y, middle(name, 26), va="center", fontsize=8)


def _curve(given: ReportInput, style: dict[str, Style], metric: str, figure: Figure) -> None:
    axes = figure.add_subplot()
    ends = []
    for editor in _drawn(given):
        part = [
            r for r in rows(given.analysis.curves, metric=metric, group="all", editor=editor) if drawable(r["mean"])
        ]
        if not part:
            continue
        x, mean = [row["round"] for row in part], [row["mean"] for row in part]
        axes.plot(x, mean, color=style[editor].light, linestyle=line_style(style[editor]))
        band = [row for row in part if drawable(row["low"]) and drawable(row["high"])]
        axes.fill_between(
            [row["round"] for row in band],
            [row["low"] for row in band],
            [row["high"] for row in band],
            color=style[editor].light,
            alpha=0.15,
            linewidth=0,
        )
        ends.append((editor, mean[-1], style[editor]))
    axes.set_xlim(0, max(1, *(row["round"] for row in rows(given.analysis.curves, metric=metric, group="all"))))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(given.unit.many)
    axes.set_ylabel(axis_title(metric, given.facts))
    axes.set_ylim(*span(axes.get_ylim(), pad=0.0, least=_least(given.facts.get(metric))))
    label_ends(axes, ends)
    endless = endless_names(rows(given.analysis.curves, metric=metric, group="all"))
    if endless:
        axes.set_title(f"∞ in every round: {', '.join(endless)}", fontsize=8, loc="left")


def _least(facts: MetricFacts | None) -> float:
    """As on the page: the axis reaches as far as from the self-value to the level where loss is noticeable."""
    if facts is None or facts.noticeable is None or facts.self_value is None:
        return least_span(facts)
    return abs(facts.noticeable - facts.self_value)


def _survival(given: ReportInput, style: dict[str, Style], curve: str, figure: Figure) -> None:
    axes = figure.add_subplot()
    axes.set_ylim(0, 1.02)
    ends = []
    every = rows(given.analysis.survival, curve=curve, group="all")
    last = max(1, int(given.chains["rounds"].max() or 1))  # type: ignore[arg-type]
    for editor in _drawn(given):
        part = sorted(
            (r for r in every if r["editor"] == editor and drawable(r["survival"])), key=lambda r: int(r["round"])
        )
        if not part:
            continue
        x, y = [row["round"] for row in part], [row["survival"] for row in part]
        if y[-1] == 0:
            x, y = [*x, last], [*y, 0.0]
        axes.step(x, y, where="post", color=style[editor].light, linestyle=line_style(style[editor]), clip_on=False)
        ticks = [(row["round"], row["survival"]) for row in part if row["censored"]]
        if ticks:
            axes.plot(*zip(*ticks, strict=True), "|", color=style[editor].light, markersize=7)
        ends.append((editor, y[-1], style[editor]))
    axes.set_xlim(0, last)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("share still usable" if curve == "usable" else f"share not yet past {curve}")
    label_ends(axes, ends)
    _at_risk(axes, every, [end[0] for end in ends], given.unit.many)


def _at_risk(axes: Any, every: list[Row], editors: list[str], counted: str) -> None:
    """Under each tick, how many chains are at risk there; none is where a curve has come to its end."""
    axes.figure.set_size_inches(6.4, 4.0 + 0.155 * len(editors))
    right = axes.get_xlim()[1]
    marks = whole_ticks(int(right))
    axes.set_xticks(marks)
    axes.set_xlabel(f"{counted} (ticks: censored); below, chains at risk" + "\n" * (len(editors) + 1))
    for place, editor in enumerate(editors):
        known = {row["round"]: row["at_risk"] or 0 for row in every if row["editor"] == editor}
        below = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "fontsize": 7.5}
        down = -44 - 11 * place
        axes.annotate(middle(editor, 22), (right, 0), xytext=(14, down), **below)
        for mark in marks:
            at_risk = known.get(mark, next((known[n] for n in sorted(known) if n > mark), 0))
            axes.annotate(str(at_risk), (mark, 0), xytext=(0, down), ha="center", **below)


def _ranking(given: ReportInput, style: dict[str, Style], figure: Figure) -> None:
    ranked = [row for row in given.ranked if drawable(row["score"])]
    figure.set_size_inches(6.4, 1.0 + 0.3 * max(1, len(ranked)))
    axes = figure.add_subplot()
    for place, row in enumerate(ranked):
        colour = style[row["editor"]].light
        if drawable(row["low"]) and drawable(row["high"]):
            axes.plot([row["low"], row["high"]], [place, place], color=colour, alpha=0.55, linewidth=2.5)
        inside = "white" if style[row["editor"]].dash else colour
        axes.plot([row["score"]], [place], "o", color=colour, markersize=6, markerfacecolor=inside)
    names = [given.marked(row["editor"], 30) for row in ranked]
    axes.set_yticks(range(len(ranked)), names)
    axes.set_ylim(len(ranked) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.set_xlim(*within(span(axes.get_xlim(), pad=0.0, least=LEAST), -ROOM, 100 + ROOM))
    sure = any(drawable(row["low"]) for row in ranked)
    whiskers = f"{given.analysis.settings.confidence:.0%} intervals" if sure else "one source, so no intervals"
    axes.set_xlabel(f"convergence score C (→ better), {whiskers}")


def _breakdown(given: ReportInput, figure: Figure) -> None:
    found = rows(given.analysis.auc, metric=given.headline_metric)
    groups = [g for g in dict.fromkeys(row["group"] for row in found) if group_name(g)[0] != "pair"]
    editors = [editor for editor in _drawn(given) if any(row["editor"] == editor for row in found)]
    cells = {(row["editor"], row["group"]): row["auc"] for row in found}
    values = np.array([[_or_nan(cells.get((e, g))) for g in groups] for e in editors], float)
    figure.set_size_inches(max(5.0, 1.8 + 0.85 * len(groups)), 1.3 + 0.34 * len(editors))
    axes = figure.add_subplot()
    image = axes.imshow(values, cmap=_pale_blue(), vmin=DEEPEST, vmax=1.0, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        deep = np.isfinite(value) and (1 - value) / (1 - DEEPEST) > 0.8
        axes.text(
            column, row, number(value, 2), ha="center", va="center", fontsize=8, color="white" if deep else "#1b1b1d"
        )
    axes.set_xticks(range(len(groups)), [group_name(group)[1] for group in groups], rotation=25, ha="right")
    axes.set_yticks(range(len(editors)), [middle(editor, 30) for editor in editors])
    axes.grid(visible=False)
    figure.colorbar(image, ax=axes, label=f"AUC of {given.headline_metric} (↑ better)")


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _pale_blue() -> Any:
    """Loss is blue, all kept is pale, not measured is white."""
    return LinearSegmentedColormap.from_list("loss", ["#2b6cb0", "#f5f1e8"]).with_extremes(bad="#ffffff")
