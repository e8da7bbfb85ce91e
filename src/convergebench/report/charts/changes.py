"""Changes from one run to another: a row per editor, a small dot per case, a large one for all with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import NARROW, PageChart
from convergebench.report.charts.plot import Axis, Datum, Spec, download, mark_of
from convergebench.report.charts.rows import row_plot
from convergebench.report.charts.scale import span
from convergebench.report.palette import Style

ROW = 46
LEAST = 4.0
"""Least span of the axis, in points of the score."""


@dataclass(frozen=True, slots=True)
class CaseDot:
    """The change of one case; `says` is the tooltip."""

    value: float
    says: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One pair of editors."""

    name: str
    style: Style
    value: float
    low: float | None
    high: float | None
    shown: str
    """The change as text, at the end of the row."""
    cases: Sequence[CaseDot]


@dataclass(frozen=True, slots=True)
class ChangeChart(PageChart):
    """Rows in the given order about a zero line; left of it is worse."""

    rows: Sequence[ChangeRow]
    title: str
    label: str

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        values = [v for row in self.rows for v in (row.value, row.low, row.high, *(dot.value for dot in row.cases))]
        limits = span(values, include=(0.0,), pad=0.06, least=LEAST)
        axis = Axis(*limits, self.title, 4 if width <= NARROW else 8)
        middles = (16 / ROW, 24 / ROW)
        plot = row_plot(
            width, len(self.rows), axis, row=(ROW, ROW), left=230, right=(90, 56), top=30, middle_of=middles
        )
        plot.line_at(0.0, above=6)
        plot.ways(0.0, "← worse", "better →")
        plot.names([row.name for row in self.rows], room=30)
        rows = list(zip(self.rows, plot.ys, strict=True))
        cases: list[Datum] = [
            {"name": row.name, "x": dot.value, "y": y + 15, "fill": row.style.variable, "says": dot.says}
            for row, y in rows
            for dot in row.cases
        ]
        plot.dots(cases, 3, opacity=0.45)
        changes: list[Datum] = [
            {
                **{"name": row.name, "x": row.value, "low": row.low, "high": row.high, "y": y},
                **{"colour": row.style.variable, **mark_of(row.style), "says": f"{row.name}: {row.shown}"},
            }
            for row, y in rows
        ]
        plot.whiskers(changes)
        plot.dots(changes, 5.5)
        plot.values([row.shown for row in self.rows])
        plot.series = [(row.name, row.style) for row in self.rows]
        plot.meta |= download(plot, changes, x="change")
        return plot.spec()
