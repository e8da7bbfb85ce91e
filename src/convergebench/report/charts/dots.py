"""A dot with its interval per row: the ranking, best at the top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.scale import Scale, horizontal_axis, span, ticks, within
from convergebench.report.charts.series import drawable
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, line, text
from convergebench.report.palette import Style
from convergebench.report.wording import interval, middle, number

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

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        row, top = (38, 8) if narrow else (30, 8)
        left, right = (8, 48) if narrow else (210, 64)
        bottom = top + row * max(1, len(self.dots))
        x = Scale(*self.limits, left, width - right)
        marks = ticks(x.low, x.high, 4 if narrow else 7)
        grid = [line(x(mark), top, x(mark), bottom, class_="grid") for mark in marks]
        middle_of = 0.68 if narrow else 0.5
        rows = [_row(dot, x, top + row * (place + middle_of), narrow) for place, dot in enumerate(self.dots)]
        rule = {"class_": "reference", "stroke": "", "stroke_dasharray": "2 4"}
        lines = [
            line(x(dot.value), top, x(dot.value), bottom, **{**rule, "stroke": dot.style.variable})
            for dot in self.dots
            if dot.reference and dot.value is not None and drawable(dot.value)
        ]
        parts = [*grid, *lines, *horizontal_axis(x, marks, bottom, self.title), *rows]
        return drawing(parts, width=width, height=bottom + 44, label=self.label)


def _row(dot: Dot, x: Scale, y: float, narrow: bool) -> Markup:
    name_at = (x.start, y - 12) if narrow else (x.start - 16, y + 4)
    name = text(
        middle(dot.name, 40 if narrow else 28), *name_at, class_="label", text_anchor="start" if narrow else "end"
    )
    if dot.value is None or not drawable(dot.value):
        return group([name, text(dot.note or "no value", x.start + 4, y + 4, class_="level-name")])
    colour = dot.style.variable
    parts: list[object] = [name]
    if dot.low is not None and dot.high is not None and drawable(dot.low) and drawable(dot.high):
        parts.append(line(x(dot.low), y, x(dot.high), y, stroke=colour, class_="whisker"))
    hollow = {"fill": "var(--paper)", "stroke": colour, "stroke_width": 2} if dot.reference else dot.style.dot
    parts.append(element("circle", cx=x(dot.value), cy=y, r=5, **hollow))
    parts.append(text(number(dot.value, 1), x.end + 10, y + 4, class_="value"))
    parts.append(element("title", f"{dot.name}: {number(dot.value, 2)} ({interval(dot.low, dot.high, 2)})"))
    return group(parts, class_="dot")
