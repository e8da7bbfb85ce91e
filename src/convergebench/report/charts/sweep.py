"""Shares along a threshold: lines with bands over an axis of numbers, the run's own choice marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.labels import LineEnd, end_labels
from convergebench.report.charts.scale import Scale, horizontal_axis, ticks, vertical_axis
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, line, path, text
from convergebench.report.palette import Style
from convergebench.report.wording import number


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

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        left, right, top, bottom = (34, 104, 30, 250) if narrow else (46, 230, 30, 310)
        places = [point[0] for one in self.lines for point in one.points] or [0.0, 1.0]
        x, y = Scale(min(places), max(places), left, width - right), Scale(0, 1, bottom, top)
        drawn: list[object] = [
            text(self.title, 0, 14, class_="axis-title"),
            *vertical_axis(y, ticks(0, 1, 5), left, width - right),
            *horizontal_axis(x, ticks(x.low, x.high, 4 if narrow else 9), bottom, self.x_title),
            line(x(self.chosen), top, x(self.chosen), bottom, class_="unit"),
            text("as run", x(self.chosen) + 5, top + 10, class_="level-name"),
        ]
        ends = []
        for one in self.lines:
            drawn += [_band(one, x, y), _stroke(one, x, y)]
            known = [(at, value) for at, value, _, _ in one.points if value is not None]
            if known:
                ends.append(LineEnd(one.name, x(known[-1][0]), y(known[-1][1]), one.style))
        drawn.append(end_labels(ends, x=width - right + 22, low=top, high=bottom - 4, room=13 if narrow else 30))
        return drawing(drawn, width=width, height=bottom + 46, label=self.label)


def _stroke(one: SweepLine, x: Scale, y: Scale) -> Markup:
    places = [None if value is None else (x(at), y(value)) for at, value, _, _ in one.points]
    dots = [
        group(
            [
                element("circle", cx=x(at), cy=y(value), r=3, fill=one.style.variable),
                element("title", f"{one.name} at {at:g}: {number(value, 2)}"),
            ]
        )
        for at, value, _, _ in one.points
        if value is not None
    ]
    dashes = one.style.dash or None
    return group([path(places, stroke=one.style.variable, stroke_dasharray=dashes, class_="curve"), *dots])


def _band(one: SweepLine, x: Scale, y: Scale) -> Markup | None:
    edges = [(x(at), y(low), y(high)) for at, _, low, high in one.points if low is not None and high is not None]
    if len(edges) < 2:
        return None
    outline = [(at, low) for at, low, _ in edges] + [(at, high) for at, _, high in reversed(edges)]
    return path(outline, fill=one.style.variable, class_="band")
