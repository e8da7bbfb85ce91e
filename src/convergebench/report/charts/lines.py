"""Lines over rounds or steps from the untouched image (n = 0) on, each with a band and a name at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import NARROW, PageChart
from convergebench.report.charts.labels import LineEnd, end_labels
from convergebench.report.charts.plot import CLIP, Axis, Datum, Plot, PlotMargins, Spec, disc, download
from convergebench.report.charts.scale import span, whole_ticks
from convergebench.report.charts.series import LineSeries, drawable


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
        ends = (low if min(known, default=low) < floor else floor), (high if max(known, default=high) > top else top)
        return ends if ends[0] < ends[1] else (low, high)

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

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        narrow = width <= NARROW
        margins = PlotMargins(38, 100, 34, 46) if narrow else PlotMargins(52, 190, 34, 46)
        plot = Plot(
            width,
            346 if narrow else 406,
            margins,
            Axis(0, self.last, self.x_title, 10, whole_ticks(self.last, 5 if narrow else 10), whole=True, grid=False),
            Axis(*self.limits, self.title),
            [(one.name, one.style) for one in self.series],
        )
        points = points_of(self.series)
        levels = [{"y": value, "text": f"{name} {value:g}"} for name, value in self.shown_levels]
        plot.add("rule", levels, x=0, x2=plot.wide, color="var(--faint)", strokeDash=[2, 4], clip=CLIP)
        add_lines(plot, points)
        plot.add("text", levels, x=6, dy=-5, align="left", fontSize=11, color="var(--soft)", named="halo", clip=CLIP)
        if self.beyond:
            note = [{"x": 4, "y": 10, "text": self.beyond}]
            plot.add("text", note, px="xy", align="left", fontSize=11, color="var(--soft)", named="halo")
        add_columns(plot, points, "after")
        end_labels(plot, ends(self.series, plot), room=11 if narrow else 24)
        return plot.spec()


def points_of(series: Sequence[LineSeries]) -> list[Datum]:
    """The points of all lines."""
    return [
        {"name": one.name, "x": point.x, "y": point.value, "low": point.low, "high": point.high, "n": point.n}
        for one in series
        for point in one.points
    ]


def add_lines(plot: Plot, points: list[Datum], *, banded: bool = True) -> None:
    """Lines with their bands; a missing value is a gap, and a lone point a dot."""
    if banded and any(drawable(row["low"]) and drawable(row["high"]) for row in points):
        plot.add("area", points, y="low", y2="high", coloured=True, opacity=0.14, clip=CLIP)
    plot.add("line", points, coloured=True, strokeWidth=2.2, strokeJoin="round", strokeCap="round", clip=CLIP)
    solid = [row for row in points if drawable(row["y"])]
    alone = [row for row in solid if sum(row["name"] == other["name"] for other in solid) == 1]
    plot.add("point", alone, coloured=True, size=disc(3), clip=CLIP)


def add_columns(plot: Plot, points: list[Datum], word: str, n: str = "n =") -> None:
    """One invisible column per round: the tooltip lists the values of all lines there. The data can be downloaded."""
    places = sorted({row["x"] for row in points})
    if not places:
        return
    first, last = places[0], places[-1]
    columns = [
        {
            "at": at,
            "x": at if at == first else (before + at) / 2,
            "x2": at if at == last else (at + after) / 2,
        }
        for before, at, after in zip([first, *places[:-1]], places, [*places[1:], last], strict=True)
    ]
    hover = {"name": "hover", "select": {"type": "point", "on": "pointerover", "clear": "pointerout", "fields": ["at"]}}
    plot.live_columns(columns, hover)
    plot.meta |= download(plot, points, x=plot.x.title or "x", y=(plot.y.title if plot.y else "") or "value")
    plot.meta["columns"] = {"data": plot.named(points), "word": word, "n": n}


def last_x(series: Sequence[LineSeries]) -> int:
    """The last round or step of any line."""
    return max((point.x for one in series for point in one.points), default=1)


def ends(series: Sequence[LineSeries], plot: Plot) -> list[LineEnd]:
    """Where each line stops, in pixels of the frame."""
    x, y = plot.across(), plot.up()
    return [
        LineEnd(one.name, x(one.last.x), y(one.last.value))
        for one in series
        if one.last is not None and one.last.value is not None
    ]
