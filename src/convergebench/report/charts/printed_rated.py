"""The chart of people's answers for print; importing this module makes it drawable."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from convergebench.report.charts.printed import draw
from convergebench.report.charts.rated import RatedChart
from convergebench.report.charts.series import drawable
from convergebench.report.wording import middle

HIGHEST = 0.62
"""Of a row, in rows."""


@draw.register
def _rated(chart: RatedChart, figure: Figure) -> None:
    figure.set_size_inches(6.4, 0.9 + 0.72 * max(1, len(chart.rows)))
    axes: Any = figure.add_subplot()
    for place, one in enumerate(chart.rows):
        colour = one.style.light
        heights = [-HIGHEST * share / chart.tallest for _, share, _ in one.answers]
        axes.bar([value for value, _, _ in one.answers], heights, 0.68, place, color=colour, alpha=0.35, linewidth=0)
        for value, share, _ in one.answers:
            if share >= 0.005:
                at = (value, place - HIGHEST * share / chart.tallest)
                axes.annotate(f"{100 * share:.0f}", at, (0, 1), textcoords="offset points", ha="center", fontsize=6.5)
        if drawable(one.low) and drawable(one.high):
            axes.plot([one.low, one.high], [place + 0.13] * 2, color=colour, alpha=0.55, linewidth=2.5)
        if drawable(one.mean):
            inside = "white" if one.style.dash else colour
            axes.plot([one.mean], [place + 0.13], "o", color=colour, markersize=6, markerfacecolor=inside)
    if chart.best is not None:
        axes.axvline(chart.best, color="#1b1b1d", linewidth=0.9, linestyle=(0, (3, 3)))
    axes.set_yticks(range(len(chart.rows)), [middle(one.name, 30) for one in chart.rows])
    axes.set_ylim(len(chart.rows) - 0.6, -0.9)
    axes.set_xlim(chart.low - 0.5, chart.high + 0.5)
    axes.set_xticks(chart.marks)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"{chart.title}; bars in %, dots are means")
