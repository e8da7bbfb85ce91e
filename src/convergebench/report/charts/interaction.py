"""Two factors at two levels each: one on the horizontal axis, one as two lines; parallel lines mean no interaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.labels import LineEnd, end_labels
from convergebench.report.charts.scale import Scale, span, ticks, vertical_axis
from convergebench.report.charts.series import drawable
from convergebench.report.charts.svg import PageChart, drawing, element, group, line, path, text
from convergebench.report.palette import Style
from convergebench.report.wording import interval, number

WIDTH = 330
SHIFT = 4
"""Pixels by which the two lines are moved apart, so that their whiskers do not cover each other."""


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

    def __html__(self) -> str:
        return self.svg(WIDTH)

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the vertical axis."""
        return span([v for one in self.lines for cell in one.cells for v in (cell.value, cell.low, cell.high)], pad=0.1)

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        left, right, top, bottom = 52, 96, 34, 190
        y = Scale(*self.limits, bottom, top)
        room = (width - right - left) / max(1, len(self.levels))
        at = [left + room * (place + 0.5) for place in range(len(self.levels))]
        drawn: list[object] = [
            text(self.title, 0, 14, class_="axis-title"),
            *vertical_axis(y, ticks(y.low, y.high, 4), left, width - right),
            line(left, bottom, width - right, bottom, class_="axis"),
            *(
                text(name, x, bottom + 18, class_="tick", text_anchor="middle")
                for name, x in zip(self.levels, at, strict=True)
            ),
        ]
        ends = []
        for place, one in enumerate(self.lines):
            shift = SHIFT * (2 * place - len(self.lines) + 1) / 2
            drawn.append(_line(one, [x + shift for x in at], y, self.levels))
            known = [(x + shift, cell.value) for x, cell in zip(at, one.cells, strict=True) if drawable(cell.value)]
            if known:
                ends.append(LineEnd(one.name, known[-1][0] + 4, y(known[-1][1]), one.style))
        drawn.append(end_labels(ends, x=width - right + 18, low=top, high=bottom - 4, room=13))
        return drawing(drawn, width=width, height=bottom + 28, label=self.label)


def _line(one: InteractionLine, at: Sequence[float], y: Scale, levels: Sequence[str]) -> Markup:
    colour = one.style.variable
    places = [(x, y(cell.value)) if drawable(cell.value) else None for x, cell in zip(at, one.cells, strict=True)]
    parts: list[object] = [path(places, stroke=colour, stroke_dasharray=one.style.dash or None, class_="curve")]
    for x, cell, level in zip(at, one.cells, levels, strict=True):
        if not drawable(cell.value):
            continue
        dot: list[object] = [
            element("title", f"{level}, {one.name}: {number(cell.value)} ({interval(cell.low, cell.high)})")
        ]
        if drawable(cell.low) and drawable(cell.high):
            dot.append(line(x, y(cell.low), x, y(cell.high), stroke=colour, class_="whisker"))
        dot.append(element("circle", cx=x, cy=y(cell.value), r=4.5, **one.style.dot))
        parts.append(group(dot, class_="dot"))
    return group(parts)
