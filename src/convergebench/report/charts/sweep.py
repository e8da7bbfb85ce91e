"""Shares along a threshold: lines with bands over an axis of numbers, the run's own choice marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import NARROW, PageChart
from convergebench.report.charts.labels import LineEnd, end_labels
from convergebench.report.charts.lines import add_columns, add_lines
from convergebench.report.charts.plot import CLIP, Axis, Datum, Plot, PlotMargins, Spec, disc
from convergebench.report.palette import Style


@dataclass(frozen=True, slots=True)
class SweepLine:
    """(x, value, band from, band to) in order of x; a value that is missing is a gap."""

    name: str
    style: Style
    points: tuple[tuple[float, float | None, float | None, float | None], ...]


@dataclass(frozen=True, slots=True)
class SweepChart(PageChart):
    """Shares from 0 to 1."""

    lines: Sequence[SweepLine]
    chosen: float
    title: str
    x_title: str
    label: str

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        narrow = width <= NARROW
        places = [point[0] for one in self.lines for point in one.points] or [0.0, 1.0]
        plot = Plot(
            width,
            296 if narrow else 356,
            PlotMargins(34, 104, 30, 46) if narrow else PlotMargins(46, 230, 30, 46),
            Axis(min(places), max(places), self.x_title, 4 if narrow else 9, grid=False),
            Axis(0, 1, self.title),
            [(one.name, one.style) for one in self.lines],
        )
        points: list[Datum] = [
            {"name": one.name, "x": at, "y": value, "low": low, "high": high}
            for one in self.lines
            for at, value, low, high in one.points
        ]
        chosen = [{"x": self.chosen, "text": "as run"}]
        plot.add("rule", chosen, y=0, y2=plot.high, color="var(--ink)", strokeDash=[3, 3], clip=CLIP)
        soft: Spec = {"fontSize": 11, "color": "var(--soft)", "named": "halo"}
        plot.add("text", chosen, y=10, dx=5, align="left", clip=CLIP, **soft)
        add_lines(plot, points)
        plot.add("point", points, coloured=True, size=disc(3), clip=CLIP)
        add_columns(plot, points, "at", "n =")
        x, y = plot.across(), plot.up()
        known = [(one.name, [point for point in one.points if point[1] is not None]) for one in self.lines]
        ends = [LineEnd(name, x(found[-1][0]), y(found[-1][1] or 0.0)) for name, found in known if found]
        end_labels(plot, ends, room=13 if narrow else 30)
        return plot.spec()
