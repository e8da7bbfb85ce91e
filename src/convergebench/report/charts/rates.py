"""Success rates: a dot with its interval per row, a ring for a second rate, a diamond for a published one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.scale import Scale
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, line, text
from convergebench.report.palette import Style
from convergebench.report.wording import middle, percent, percents

MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class RateRow:
    """One row; a `head` is a group of the rows below it. Without an interval its dot is faint."""

    name: str
    n: int
    share: float | None
    low: float | None = None
    high: float | None = None
    second: float | None = None
    published: float | None = None
    head: bool = False


@dataclass(frozen=True, slots=True)
class RateChart(PageChart):
    """Rates from 0 to 100 %, all rows on one axis."""

    rows: Sequence[RateRow]
    style: Style
    title: str
    label: str
    second: str = "first attempt"
    """What the second rate is."""
    ring: float = 4
    """Radius of its ring; more than a dot's where the two rates are often equal."""

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        row, top = (34, 6) if narrow else (24, 6)
        left, right = (8, 84) if narrow else (345, 110)
        bottom = top + row * max(1, len(self.rows))
        x = Scale(0, 1, left, width - right)
        parts: list[object] = [line(x(mark), top, x(mark), bottom, class_="grid") for mark in MARKS]
        for place, one in enumerate(self.rows):
            parts.append(self._row(one, x, top + row * (place + (0.72 if narrow else 0.5)), narrow))
        parts.append(line(x.start, bottom, x.end, bottom, class_="axis"))
        for mark in MARKS:
            parts.append(text(percent(mark), x(mark), bottom + 18, class_="tick", text_anchor="middle"))
        parts.append(text(self.title, x.start, bottom + 36, class_="axis-title"))
        return drawing(parts, width=width, height=bottom + 44, label=self.label)

    def _row(self, one: RateRow, x: Scale, y: float, narrow: bool) -> Markup:
        at = (x.start, y - 11) if narrow else (x.start - 16, y + 4)
        weight = "font-weight:600" if one.head else None
        anchor = "start" if narrow else "end"
        name = middle(one.name, 44 if narrow else 46)
        drawn: list[object] = [text(name, *at, class_="label", text_anchor=anchor, style=weight)]
        colour = self.style.variable
        if one.share is None:
            drawn.append(text("no verdict", x.start + 4, y + 4, class_="level-name"))
        else:
            if one.low is not None and one.high is not None:
                drawn.append(line(x(one.low), y, x(one.high), y, stroke=colour, class_="whisker"))
            if one.second is not None:
                ring = {"fill": "var(--paper)", "stroke": colour, "stroke_width": 1.6}
                drawn.append(element("circle", cx=x(one.second), cy=y, r=self.ring, **ring))
            faint = 0.45 if one.low is None else None
            size = 6 if one.head else 4.5
            drawn.append(element("circle", cx=x(one.share), cy=y, r=size, fill=colour, fill_opacity=faint))
            drawn.append(
                text(f"{percent(one.share)} of {one.n}", x.end + 12, y + 4, class_="value" if one.head else "")
            )
        if one.published is not None:
            drawn.append(_diamond(x(one.published), y))
        return group([*drawn, element("title", _says(one, self.second))])


def _diamond(x: float, y: float) -> Markup:
    points = f"{x - 6:.1f},{y:.1f} {x:.1f},{y - 6:.1f} {x + 6:.1f},{y:.1f} {x:.1f},{y + 6:.1f}"
    return element("polygon", points=points, fill="none", stroke="var(--ink)", stroke_width=1.6)


def _says(one: RateRow, second: str) -> str:
    parts = [f"{one.name}: {percent(one.share)} of {one.n}"]
    parts += [f"interval {percents(one.low, one.high)}"] if one.low is not None else []
    parts += [f"{second} {percent(one.second)}"] if one.second is not None else []
    parts += [f"paper {100 * one.published:.1f} %"] if one.published is not None else []
    return "; ".join(parts)
