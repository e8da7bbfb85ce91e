"""Two factors at two levels each: one on the horizontal axis, one as two lines; parallel lines mean no interaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import PageChart
from convergebench.report.charts.labels import LineEnd, end_labels
from convergebench.report.charts.plot import CLIP, Axis, Datum, Plot, PlotMargins, Spec, disc, download, mark_of
from convergebench.report.charts.scale import span
from convergebench.report.charts.series import drawable
from convergebench.report.palette import Style
from convergebench.report.wording import interval, number

WIDTH = 330
SHIFT = 0.045
"""Of the room of a level: the two lines are moved apart, so that their whiskers do not cover each other."""


@dataclass(frozen=True, slots=True)
class CellMean:
    """The mean of one cell of the design with its interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class InteractionLine:
    """One level of the second factor: its means at each level of the first."""

    name: str
    style: Style
    cells: tuple[CellMean, ...]


@dataclass(frozen=True, slots=True)
class InteractionChart(PageChart):
    """330 wide."""

    lines: Sequence[InteractionLine]
    levels: Sequence[str]
    title: str
    label: str

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the vertical axis."""
        return span([v for one in self.lines for cell in one.cells for v in (cell.value, cell.low, cell.high)], pad=0.1)

    @property
    def widths(self) -> tuple[int, ...]:
        """One width."""
        return (WIDTH,)

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        levels = list(enumerate(self.levels))
        plot = Plot(
            width,
            218,
            PlotMargins(52, 96, 34, 28),
            Axis(-0.5, len(levels) - 0.5, grid=False, labels=False),
            Axis(*self.limits, self.title, 4),
            [(one.name, one.style) for one in self.lines],
        )
        rows: list[Datum] = [
            {
                **{"name": one.name, "group": level, "y": cell.value, "low": cell.low, "high": cell.high},
                **{"x": at + SHIFT * (2 * place - len(self.lines) + 1) / 2, **mark_of(one.style)},
                "says": f"{level}, {one.name}: {number(cell.value)} ({interval(cell.low, cell.high)})",
            }
            for place, one in enumerate(self.lines)
            for (at, level), cell in zip(levels, one.cells, strict=True)
        ]
        plot.add("line", rows, coloured=True, strokeWidth=2.2, clip=CLIP)
        ended = [row for row in rows if drawable(row["low"]) and drawable(row["high"])]
        plot.add("rule", ended, y="low", y2="high", coloured=True, strokeWidth=2.5, opacity=0.55, clip=CLIP)
        plot.add("point", rows, size=disc(4.5), clip=CLIP)
        names = [{"x": at, "text": level} for at, level in levels]
        plot.add("text", names, y=plot.high + 18, color="var(--soft)", unless="zoomed")
        x, y = plot.across(), plot.up()
        last = {row["name"]: row for row in rows if drawable(row["y"])}
        end_labels(plot, [LineEnd(name, x(row["x"]) + 4, y(row["y"])) for name, row in last.items()], gap=18, room=13)
        plot.meta |= download(plot, rows, x="", y=self.title)
        return plot.spec()
