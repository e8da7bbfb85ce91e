"""Changes from one run to another: a row per editor, a small dot per case, a large one for all with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.scale import Scale, horizontal_axis, span, ticks
from convergebench.report.charts.series import drawable
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, line, text
from convergebench.report.palette import Style
from convergebench.report.wording import middle

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

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        values = [v for row in self.rows for v in (row.value, row.low, row.high, *(dot.value for dot in row.cases))]
        left, right, top = (12, 56, 30) if narrow else (230, 90, 30)
        bottom = top + ROW * len(self.rows)
        x = Scale(*span(values, include=(0.0,), pad=0.06, least=LEAST), left, width - right)
        marks = ticks(x.low, x.high, 4 if narrow else 8)
        parts: list[object] = [line(x(mark), top, x(mark), bottom, class_="grid") for mark in marks]
        zero = x(0)
        parts.append(line(zero, top - 6, zero, bottom, class_="unit"))
        if zero - x.start > 52:
            parts.append(text("← worse", zero - 6, top - 10, class_="level-name", text_anchor="end"))
        if x.end - zero > 52:
            parts.append(text("better →", zero + 6, top - 10, class_="level-name"))
        parts += horizontal_axis(x, marks, bottom, self.title)
        parts += [_row(row, x, top + ROW * place, narrow) for place, row in enumerate(self.rows)]
        return drawing(parts, width=width, height=bottom + 44, label=self.label)


def _row(row: ChangeRow, x: Scale, top: float, narrow: bool) -> Markup:
    colour, y = row.style.variable, top + (24 if narrow else 16)
    at = (x.start, top + 12) if narrow else (x.start - 16, y + 5)
    parts: list[object] = [
        text(middle(row.name, 38 if narrow else 30), *at, class_="label halo", text_anchor="start" if narrow else "end")
    ]
    for dot in row.cases:
        circle = element(
            "circle", element("title", dot.says), cx=x(dot.value), cy=y + 15, r=3, fill=colour, opacity=0.45
        )
        parts.append(circle)
    if row.low is not None and row.high is not None and drawable(row.low) and drawable(row.high):
        parts.append(line(x(row.low), y, x(row.high), y, stroke=colour, class_="whisker"))
    parts.append(element("circle", cx=x(row.value), cy=y, r=5.5, **row.style.dot))
    parts.append(text(row.shown, x.end + 10, y + 4, class_="value"))
    parts.append(element("title", f"{row.name}: {row.shown}"))
    return group(parts, class_="dot")
