"""Two metrics against each other: a point per method, and the Pareto front of those that nothing beats in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from convergebench.report.charts.base import NARROW, PageChart
from convergebench.report.charts.plot import CLIP, Axis, Datum, Plot, PlotMargins, Spec, disc, download, mark_of
from convergebench.report.charts.scale import Scale, span
from convergebench.report.charts.series import drawable
from convergebench.report.palette import Style
from convergebench.report.wording import middle

CROSS = "M-1,-1L1,1M-1,1L1,-1"
"""The shape of the degraded input."""
LETTER, LINE = 6.7, 14.0
"""Usual width of a letter and height of a line, in pixels."""


@dataclass(frozen=True, slots=True)
class TradeoffPoint:
    """One method or prompt; `style` None marks the degraded input, drawn as a cross."""

    name: str
    style: Style | None
    x: float
    y: float
    front: bool
    says: str
    hollow: bool = False


class PointLabel(NamedTuple):
    """Where a label goes, relative to its point, and which end of its text is there."""

    x: float
    y: float
    anchor: str


PLACES = (
    *(PointLabel(10, 4, "start"), PointLabel(-10, 4, "end"), PointLabel(0, -11, "middle"), PointLabel(0, 20, "middle")),
    *(PointLabel(9, -8, "start"), PointLabel(9, 17, "start"), PointLabel(-9, -8, "end"), PointLabel(-9, 17, "end")),
    *(PointLabel(0, -26, "middle"), PointLabel(0, 35, "middle")),
)
"""Tried in this order; the first that covers nothing is taken."""


@dataclass(frozen=True, slots=True)
class TradeoffChart(PageChart):
    """Both axes run towards the better value, so the best place is always the upper right corner.

    `x_better` and `y_better` are 1 where a greater value is better, −1 where a smaller one is.
    """

    points: Sequence[TradeoffPoint]
    x_title: str
    y_title: str
    x_better: int
    y_better: int
    label: str

    @property
    def drawn(self) -> list[TradeoffPoint]:
        """The points with two finite values."""
        return [one for one in self.points if drawable(one.x) and drawable(one.y)]

    @property
    def front(self) -> list[TradeoffPoint]:
        """The points of the Pareto front, from the best of the vertical metric to the best of the horizontal one."""
        return sorted((one for one in self.drawn if one.front), key=lambda one: (self.x_better * one.x, one.name))

    @property
    def limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ends of both axes."""
        return span([one.x for one in self.drawn], pad=0.1), span([one.y for one in self.drawn], pad=0.12)

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        narrow = width <= NARROW
        across, up = self.limits
        plot = Plot(
            width,
            376 if narrow else 476,
            PlotMargins(46, 14, 34, 46) if narrow else PlotMargins(60, 30, 34, 46),
            Axis(
                *across,
                f"{self.x_title} (→ right is better)",
                4 if narrow else 8,
                grid=False,
                reverse=self.x_better < 0,
            ),
            Axis(*up, f"{self.y_title} (↑ up is better)", reverse=self.y_better < 0),
        )
        x, y = plot.across(), plot.up()
        names = [middle(one.name, 16 if narrow else 30) for one in self.drawn]
        spots = [(x(one.x), y(one.y)) for one in self.drawn]
        places = place_labels(spots, names, (0, plot.wide), (0, plot.high))
        stairs = [{"x": across, "y": up, "order": place} for place, (across, up) in enumerate(self.corners)]
        plot.add("line", stairs, color="var(--faint)", strokeWidth=1.6, clip=CLIP)
        if stairs:
            plot.layers[-1]["encoding"]["order"] = {"field": "order", "type": "quantitative"}
        rows: list[Datum] = [{"name": one.name, "x": one.x, "y": one.y, **_mark(one)} for one in self.drawn]
        plot.add("point", rows, clip=CLIP)
        for place in dict.fromkeys(places):
            for front, weight in ((True, 600), (False, 400)):
                labels = [
                    {"name": one.name, "x": one.x, "y": one.y, "text": name}
                    for one, name, at in zip(self.drawn, names, places, strict=True)
                    if at == place and one.front is front
                ]
                align = {"start": "left", "middle": "center", "end": "right"}[place.anchor]
                look: Spec = {"align": align, "dx": place.x, "dy": place.y, "fontWeight": weight, "fontSize": 13}
                plot.add("text", labels, named="halo_label", dimmed=0.35, cursor="pointer", clip=CLIP, **look)
        plot.series = [(one.name, one.style) for one in self.drawn if one.style is not None]
        plot.meta |= download(plot, rows, x=self.x_title, y=self.y_title, name="method")
        return plot.spec()

    @property
    def corners(self) -> list[tuple[float, float]]:
        """The front as steps: below and to the left of them a point is beaten; nothing lies between two points."""
        found: list[tuple[float, float]] = []
        for one in self.front:
            if found:
                found.append((found[-1][0], one.y))
            found.append((one.x, one.y))
        return found

    def scales(self, left: float, right: float, top: float, bottom: float) -> tuple[Scale, Scale]:
        """Both axes, turned so that better is right and up."""
        across, up = self.limits
        x = Scale(*across, left, right) if self.x_better > 0 else Scale(*across, right, left)
        y = Scale(*up, bottom, top) if self.y_better > 0 else Scale(*up, top, bottom)
        return x, y


def _mark(one: TradeoffPoint) -> Spec:
    if one.style is None:
        return {
            "shape": CROSS,
            "fill": "transparent",
            "stroke": "var(--ink)",
            "strokeWidth": 2.2,
            "says": one.says,
            "size": 100,
        }
    full = mark_of(one.style, hollow=one.hollow, ring=2.2)
    return {"shape": "circle", **full, "says": one.says, "size": disc(6.5 if one.front else 5)}


Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def place_labels(
    spots: Sequence[tuple[float, float]],
    names: Sequence[str],
    across: tuple[float, float],
    down: tuple[float, float],
) -> list[PointLabel]:
    """A place for each label that covers no point and no other label, or the one that covers least."""
    points = [(x - 7, y - 7, x + 7, y + 7) for x, y in spots]
    taken: list[Box] = []
    found = []
    for spot, name in zip(spots, names, strict=True):
        boxes = [(place, _box(spot, place, name)) for place in PLACES]
        costs = [
            sum(_overlap(box, other) for other in (*points, *taken)) + 4 * _outside(box, across, down)
            for _, box in boxes
        ]
        best = costs.index(min(costs))
        taken.append(boxes[best][1])
        found.append(boxes[best][0])
    return found


def _box(spot: tuple[float, float], place: PointLabel, name: str) -> Box:
    wide = LETTER * len(name)
    left = spot[0] + place.x - {"start": 0.0, "middle": wide / 2, "end": wide}[place.anchor]
    bottom = spot[1] + place.y + 3
    return left, bottom - LINE, left + wide, bottom


def _overlap(one: Box, other: Box) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def _outside(box: Box, across: tuple[float, float], down: tuple[float, float]) -> float:
    """By how much a label leaves the chart, as an area."""
    wide = max(0.0, across[0] - box[0]) + max(0.0, box[2] - across[1])
    high = max(0.0, down[0] - box[1]) + max(0.0, box[3] - down[1])
    return wide * LINE + high * (box[2] - box[0])
