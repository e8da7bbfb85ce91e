"""Differences to a baseline: dots with intervals about a zero line, one column per step, one row per variant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.scale import Scale, span, tick_text, ticks
from convergebench.report.charts.series import drawable
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, line, text
from convergebench.report.palette import Style
from convergebench.report.wording import middle

GAP = 9
"""Distance between the dots of two editors in one row."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One editor's difference with its interval; `says` is the tooltip."""

    name: str
    style: Style
    value: float | None
    low: float | None
    high: float | None
    says: str


@dataclass(frozen=True, slots=True)
class VariantLine:
    """One variant: a note on its baseline, and its dots in each column."""

    name: str
    note: str
    columns: tuple[tuple[Difference, ...], ...]

    @property
    def height(self) -> int:
        """Room for as many dots as the fullest column has."""
        return 22 + GAP * max((len(dots) for dots in self.columns), default=1)


@dataclass(frozen=True, slots=True)
class DifferenceChart(PageChart):
    """Columns side by side on a page, one below the other on a phone; all share one axis.

    `better` is 1 where a greater value is better, −1 where a smaller one is, 0 where neither is.
    """

    lines: Sequence[VariantLine]
    columns: Sequence[str]
    title: str
    label: str
    better: int

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        dots = [dot for one in self.lines for column in one.columns for dot in column]
        low, high = span([v for dot in dots for v in (dot.value, dot.low, dot.high)], include=(0.0,), pad=0.08)
        parts: list[object] = [text(self.title, 0, 14, class_="axis-title")]
        ways = {1: ("← worse", "better →"), -1: ("← better", "worse →"), 0: ("", "")}[self.better]
        top = 60.0
        if width <= NARROW:
            for place, name in enumerate(self.columns):
                x = Scale(low, high, 8, width - 16)
                bottom = _facet(parts, self.lines, place, name, x, top, ways, under=True)
                top = bottom + 70
            return drawing(parts, width=width, height=top - 44, label=self.label)
        left, right, gap = 218, 14, 26
        room = (width - left - right - gap * (len(self.columns) - 1)) / max(1, len(self.columns))
        bottom = y = top
        for place, name in enumerate(self.columns):
            start = left + place * (room + gap)
            x = Scale(low, high, start, start + room)
            bottom = _facet(parts, self.lines, place, name, x, top, ways, under=False)
        for one in self.lines:
            at = y + one.height / 2
            parts.append(text(middle(one.name, 30), left - 18, at, class_="label", text_anchor="end"))
            parts.append(text(middle(one.note, 34), left - 18, at + 14, class_="tick", text_anchor="end"))
            y += one.height
        return drawing(parts, width=width, height=bottom + 26, label=self.label)


def _facet(
    parts: list[object],
    lines: Sequence[VariantLine],
    place: int,
    name: str,
    x: Scale,
    top: float,
    ways: tuple[str, str],
    *,
    under: bool,
) -> float:
    """Add one column of dots and return its bottom; with `under` (on a phone) names are inside the rows."""
    extra = 16 if under else 0
    bottom = top + sum(one.height + extra for one in lines)
    marks = ticks(x.low, x.high, 3)
    if len(marks) < 2:  # one number does not show the scale
        marks = ticks(x.low, x.high, 6)
    parts.append(text(name, x.start, top - 26, class_="label"))
    zero = x(0)
    if zero - x.start > 52:
        parts.append(text(ways[0], zero - 6, top - 8, class_="level-name", text_anchor="end"))
    if x.end - zero > 52:
        parts.append(text(ways[1], zero + 6, top - 8, class_="level-name"))
    for mark in marks:
        parts.append(line(x(mark), top, x(mark), bottom, class_="grid"))
        parts.append(text(tick_text(mark, marks), x(mark), bottom + 16, class_="tick", text_anchor="middle"))
    parts.append(line(zero, top - 4, zero, bottom, class_="unit"))
    y = top
    for one in lines:
        if under:
            parts.append(text(middle(f"{one.name}, {one.note}", 52), x.start, y + 14, class_="label halo"))
        dots = one.columns[place]
        first = y + extra + (one.height - GAP * (len(dots) - 1)) / 2
        parts.extend(_dot(dot, x, first + GAP * number) for number, dot in enumerate(dots))
        if not any(drawable(dot.value) for dot in dots):
            parts.append(text("no value", x.start + 4, y + extra + one.height / 2 + 4, class_="level-name"))
        y += one.height + extra
    return bottom


def _dot(dot: Difference, x: Scale, y: float) -> Markup | None:
    if dot.value is None or not drawable(dot.value):
        return None
    parts: list[object] = [element("title", dot.says)]
    if dot.low is not None and dot.high is not None and drawable(dot.low) and drawable(dot.high):
        parts.append(line(x(dot.low), y, x(dot.high), y, stroke=dot.style.variable, class_="whisker"))
    parts.append(element("circle", cx=x(dot.value), cy=y, r=4, **dot.style.dot))
    return group(parts, class_="dot")
