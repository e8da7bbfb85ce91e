"""Lines over rounds or steps from the untouched image (n = 0) on, each with a band and a name at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from convergebench.report.charts.labels import LineEnd, end_labels
from convergebench.report.charts.scale import Scale, horizontal_axis, span, ticks, vertical_axis, whole_ticks
from convergebench.report.charts.series import LineSeries, Point, drawable, thin
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, line, path, text
from convergebench.report.wording import middle, number


@dataclass(frozen=True, slots=True)
class LineChart(PageChart):
    """Lines over whole numbers. `levels` are (name, value) pairs drawn as thin rules; the axis shows `include`.

    `endless` names editors whose values are all infinite, which no line can show. `note` is for print only, where
    there is no text beside the chart.
    """

    series: Sequence[LineSeries]
    title: str
    label: str
    levels: Sequence[tuple[str, float]] = ()
    include: Sequence[float] = ()
    x_title: str = "round trips"
    endless: Sequence[str] = ()
    note: str = ""

    @property
    def last(self) -> int:
        """Where the horizontal axis ends."""
        return max(1, last_x(self.series))

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the vertical axis."""
        values = [v for one in self.series for p in one.points for v in (p.value, p.low, p.high)]
        low, high = span(values, include=self.include, least=self._least)
        known = [value for value in values if value is not None and drawable(value)]
        top, floor = max(self.include, default=high), min(self.include, default=low)
        # no empty space beyond the self-value where that is the best possible value
        return (low if min(known, default=low) < floor else floor), (high if max(known, default=high) > top else top)

    @property
    def _least(self) -> float:
        """Least span: from the self-value to the first named level, so that small losses do not look large."""
        named = [value for _, value in self.levels]
        if self.include:
            return min((abs(value - start) for value in named for start in self.include), default=0.0)
        return (max(named) - min(named)) / 2 if named else 0.0

    @property
    def shown_levels(self) -> list[tuple[str, float]]:
        """The named levels that fall inside the chart."""
        low, high = self.limits
        return [(name, value) for name, value in self.levels if low <= value <= high]

    @property
    def beyond(self) -> str:
        """A text for what no line can show: an infinite start, and the editors that stay infinite."""
        starts = [point.value for one in self.series for point in one.points if point.x == 0]
        if not self.series or any(drawable(value) for value in starts):
            return ""
        return "↑ ∞ at 0" + (f"; in every round: {', '.join(self.endless)}" if self.endless else "")

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        series = [replace(one, points=thin(one.points, 20)) for one in self.series] if narrow else self.series
        left, right, top, bottom = (38, 100, 34, 300) if narrow else (52, 190, 34, 360)
        x = Scale(0, max(1, last_x(series)), left, width - right)
        y = Scale(*self.limits, bottom, top)
        marks, levels = whole_ticks(int(x.high), 5 if narrow else 10), self.shown_levels
        names = end_labels(
            ends(self.series, x, y), x=width - right + 22, low=top, high=bottom - 4, room=11 if narrow else 24
        )
        parts = [
            text(self.title, 0, 14, class_="axis-title"),
            *vertical_axis(y, ticks(y.low, y.high, 5), left, width - right),
            *horizontal_axis(x, marks, bottom, self.x_title),
            *(line(x.start, y(value), x.end, y(value), class_="level") for _, value in levels),
            *(band(one, x, y) for one in series),
            *(stroke(one, x, y) for one in series),
            *(text(f"{name} {value:g}", x.start + 6, y(value) - 5, class_="level-name") for name, value in levels),
            text(self.beyond, x.start + 4, top + 10, class_="level-name") if self.beyond else None,
            None if narrow else hover(self.series, x, top, bottom),
            names,
        ]
        return drawing(parts, width=width, height=bottom + 46, label=self.label)


def last_x(series: Sequence[LineSeries]) -> int:
    """The last round or step of any line."""
    return max((point.x for one in series for point in one.points), default=1)


def stroke(one: LineSeries, x: Scale, y: Scale) -> Markup:
    """The line itself; a lone point becomes a dot."""
    places = [(x(p.x), y(p.value)) if p.value is not None and drawable(p.value) else None for p in one.points]
    solid = [place for place in places if place]
    style = {"stroke": one.style.variable, "class_": "curve"}
    if len(solid) == 1:
        return element("circle", cx=solid[0][0], cy=solid[0][1], r=3, fill=one.style.variable)
    return path(places, stroke_dasharray=one.style.dash or None, **style)


def band(one: LineSeries, x: Scale, y: Scale) -> Markup | None:
    """The interval around the line."""
    edges = [
        (x(p.x), y(p.low), y(p.high))
        for p in one.points
        if p.low is not None and p.high is not None and drawable(p.low) and drawable(p.high)
    ]
    if len(edges) < 2:
        return None
    outline = [(at, low) for at, low, _ in edges] + [(at, high) for at, _, high in reversed(edges)]
    return path(outline, fill=one.style.variable, class_="band")


def ends(series: Sequence[LineSeries], x: Scale, y: Scale) -> list[LineEnd]:
    """Where each line stops."""
    return [
        LineEnd(one.name, x(one.last.x), y(one.last.value), one.style)
        for one in series
        if one.last is not None and one.last.value is not None
    ]


def hover(series: Sequence[LineSeries], x: Scale, top: float, bottom: float) -> Markup:
    """One invisible column per round whose tooltip lists every editor's value there."""
    rounds = sorted({point.x for one in series for point in one.points})
    columns = []
    for place, at in enumerate(rounds):
        low = x(at) if place == 0 else (x(rounds[place - 1]) + x(at)) / 2
        high = x(at) if place == len(rounds) - 1 else (x(at) + x(rounds[place + 1])) / 2
        says = "\n".join([f"n = {at}", *(_says(one, at) for one in series)])
        columns.append(
            group(
                [
                    element("rect", x=low, y=top, width=max(2.0, high - low), height=bottom - top),
                    line(x(at), top, x(at), bottom),
                    element("title", says),
                ],
                class_="column",
            )
        )
    return group(columns)


def _says(one: LineSeries, at: int) -> str:
    point: Point | None = next((p for p in one.points if p.x == at), None)
    if point is None:
        return f"{middle(one.name, 24)}: not seen"
    return f"{middle(one.name, 24)}: {number(point.value)}" + (f" (n = {point.n})" if point.n is not None else "")
