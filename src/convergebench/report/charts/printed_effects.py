"""Charts of effects, trade-offs and rates for print; importing this module makes them drawable."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from convergebench.report.charts.differences import DifferenceChart
from convergebench.report.charts.interaction import InteractionChart
from convergebench.report.charts.labels import spread
from convergebench.report.charts.printed import draw
from convergebench.report.charts.rates import RateChart
from convergebench.report.charts.series import drawable
from convergebench.report.charts.tradeoff import TradeoffChart, place_labels
from convergebench.report.palette import Style
from convergebench.report.wording import middle

INK = "#1b1b1d"
WHOLE = 7.92
"""Letters of whole pixels at 100 and at 200 dpi, so that labels keep the width that they were laid out with."""


@draw.register
def _differences(chart: DifferenceChart, figure: Figure) -> None:
    height = 1.1 + 0.32 * sum(1 + 0.4 * (max(map(len, one.columns), default=1) - 1) for one in chart.lines)
    figure.set_size_inches(2.6 + 3.8 * max(1, len(chart.columns)), height)
    every = figure.subplots(1, max(1, len(chart.columns)), sharex=True, sharey=True, squeeze=False)[0]
    ways = {1: "  (right is better)", -1: "  (left is better)", 0: ""}[chart.better]
    for place, axes in enumerate(every):
        axes.axvline(0, color=INK, linewidth=0.9, linestyle=(0, (3, 3)))
        for row, one in enumerate(chart.lines):
            dots = one.columns[place]
            for number, dot in enumerate(dots):
                _interval(axes, dot.value, dot.low, dot.high, row + 0.16 * (number - (len(dots) - 1) / 2), dot.style)
        axes.set_yticks(
            range(len(chart.lines)), [f"{middle(one.name, 34)}\n{middle(one.note, 40)}" for one in chart.lines]
        )
        axes.tick_params(axis="y", labelsize=WHOLE)
        axes.set_ylim(len(chart.lines) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        axes.set_title(chart.columns[place], fontsize=8.5, loc="left")
    every[0].set_xlabel(f"{chart.title}{ways}")


@draw.register
def _rates(chart: RateChart, figure: Figure) -> None:
    figure.set_size_inches(6.4, 1.0 + 0.24 * max(1, len(chart.rows)))
    axes = figure.add_subplot()
    for place, one in enumerate(chart.rows):
        if one.second is not None:
            axes.plot([one.second], [place], "o", color=chart.style.light, markersize=9, markerfacecolor="white")
        _interval(axes, one.share, one.low, one.high, place, chart.style)
        if one.published is not None:
            axes.plot([one.published], [place], "D", color=INK, markersize=5, markerfacecolor="none")
    axes.set_yticks(range(len(chart.rows)), [f"{middle(one.name, 46)} ({one.n})" for one in chart.rows])
    axes.set_ylim(len(chart.rows) - 0.4, -0.6)
    axes.set_xlim(-0.02, 1.02)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"{chart.title}, share")


@draw.register
def _interaction(chart: InteractionChart, figure: Figure) -> None:
    figure.set_size_inches(3.6, 2.8)
    axes: Any = figure.add_subplot()
    for place, one in enumerate(chart.lines):
        shift = 0.02 * (2 * place - len(chart.lines) + 1)
        known = [(at + shift, cell) for at, cell in enumerate(one.cells) if drawable(cell.value)]
        dashes: Any = (0, tuple(float(part) for part in one.style.dash.split())) if one.style.dash else "-"
        axes.plot([x for x, _ in known], [cell.value for _, cell in known], color=one.style.light, linestyle=dashes)
        for x, cell in known:
            if drawable(cell.low) and drawable(cell.high):
                axes.plot([x, x], [cell.low, cell.high], color=one.style.light, alpha=0.55, linewidth=2.5)
            inside = "white" if one.style.dash else one.style.light
            axes.plot([x], [cell.value], "o", color=one.style.light, markersize=5, markerfacecolor=inside)
    axes.set_xticks(range(len(chart.levels)), list(chart.levels))
    axes.set_xlim(-0.4, len(chart.levels) - 0.2)
    axes.set_ylim(*chart.limits)
    axes.set_ylabel(chart.title)
    low, high = chart.limits
    ends = [(one.name, one.cells[-1].value) for one in chart.lines if drawable(one.cells[-1].value)]
    places = spread([value for _, value in ends], gap=(high - low) * 0.07, low=low, high=high)
    for (name, _), y in zip(ends, places, strict=True):
        axes.annotate(name, (len(chart.levels) - 1, y), (9, -3), textcoords="offset points", fontsize=WHOLE)


@draw.register
def _tradeoff(chart: TradeoffChart, figure: Figure) -> None:
    axes = figure.add_subplot()
    across, up = chart.limits
    axes.set_xlim(*(across if chart.x_better > 0 else across[::-1]))
    axes.set_ylim(*(up if chart.y_better > 0 else up[::-1]))
    axes.plot([x for x, _ in chart.corners], [y for _, y in chart.corners], color="#8a8a90", linewidth=1.0, zorder=1)
    x, y = chart.scales(0, 540, 0, 330)  # about the pixels of the figure
    spots = [(x(one.x), y(one.y)) for one in chart.drawn]
    places = place_labels(spots, [middle(one.name, 30) for one in chart.drawn], (0, 540), (0, 330))
    for one, place in zip(chart.drawn, places, strict=True):
        colour = INK if one.style is None else one.style.light
        inside = "white" if one.hollow or (one.style is not None and one.style.dash) else colour
        axes.plot(
            [one.x], [one.y], "x" if one.style is None else "o", color=colour, markersize=6, markerfacecolor=inside
        )
        side = {"start": "left", "middle": "center", "end": "right"}[place.anchor]
        at = (0.75 * place.x, -0.75 * place.y)
        weight = "bold" if one.front else "normal"
        axes.annotate(
            middle(one.name, 30), (one.x, one.y), at, textcoords="offset points", fontsize=7.5, ha=side, weight=weight
        )
    axes.set_xlabel(f"{chart.x_title} (→ right is better)")
    axes.set_ylabel(f"{chart.y_title} (↑ up is better)")


def _interval(axes: Any, value: float | None, low: float | None, high: float | None, at: float, style: Style) -> None:
    """A dot with its interval in a row of its own."""
    if drawable(low) and drawable(high):
        axes.plot([low, high], [at, at], color=style.light, alpha=0.55, linewidth=2.5)
    if drawable(value):
        inside = "white" if style.dash else style.light
        axes.plot([value], [at], "o", color=style.light, markersize=5, markerfacecolor=inside)
