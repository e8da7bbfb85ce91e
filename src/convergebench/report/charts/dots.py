"""A dot with its interval per row: the ranking, best at the top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import NARROW, PageChart
from convergebench.report.charts.plot import Axis, Spec, download, mark_of
from convergebench.report.charts.rows import row_plot
from convergebench.report.charts.scale import span, within
from convergebench.report.charts.series import drawable
from convergebench.report.palette import Style
from convergebench.report.wording import interval, number

LEAST = 10.0
"""Least span of the axis, in points."""
ROOM = 1.0
"""Points beyond 0 and 100, so that a dot there is not cut off."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One row: an editor, its value and interval. `note` replaces a missing value."""

    name: str
    style: Style
    value: float | None
    low: float | None
    high: float | None
    note: str = ""
    reference: bool = False
    """A reference: a hollow dot, and a dashed line through all rows to compare with."""
    marked: str = ""
    """The name with its marks, for print, where there is no table beside the chart."""


@dataclass(frozen=True, slots=True)
class DotChart(PageChart):
    """Scores of 0–100, rows in the given order; the axis covers the intervals instead of all of 0–100."""

    dots: Sequence[Dot]
    title: str
    label: str
    whiskers: str = ""
    """What the whiskers are, for print."""

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the axis."""
        values = [v for dot in self.dots for v in (dot.value, dot.low, dot.high)]
        return within(span(values, pad=0.06, least=LEAST), -ROOM, 100 + ROOM)

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        axis = Axis(*self.limits, self.title, 4 if width <= NARROW else 7)
        plot = row_plot(width, len(self.dots), axis, row=(30, 38), left=210, right=(64, 48))
        known = [(dot, y) for dot, y in zip(self.dots, plot.ys, strict=True) if drawable(dot.value)]
        for dot, _ in known:
            if dot.reference:
                plot.line_at(dot.value or 0.0, color=dot.style.variable, strokeDash=[2, 4])
        rows = [
            {
                **{"name": dot.name, "x": dot.value, "low": dot.low, "high": dot.high, "y": y},
                **{"colour": dot.style.variable, **mark_of(dot.style, hollow=dot.reference, ring=2)},
                "says": f"{dot.name}: {number(dot.value, 2)} ({interval(dot.low, dot.high, 2) or 'no interval'})",
            }
            for dot, y in known
        ]
        plot.names([dot.name for dot in self.dots])
        plot.whiskers(rows)
        plot.dots(rows)
        plot.values([number(dot.value, 1) if drawable(dot.value) else "" for dot in self.dots])
        plot.notes(["" if drawable(dot.value) else dot.note or "no value" for dot in self.dots])
        plot.series = [(dot.name, dot.style) for dot, _ in known]
        plot.meta |= download(plot, rows, x="score")
        return plot.spec()
