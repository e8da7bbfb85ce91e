"""Two metrics against each other: a point per method, and the Pareto front of those that nothing beats in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from convergebench.report.charts.scale import Scale, horizontal_axis, span, ticks, vertical_axis
from convergebench.report.charts.series import drawable
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, path, text
from convergebench.report.palette import Style
from convergebench.report.wording import middle

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

    def stairs(self, x: Scale, y: Scale) -> list[tuple[float, float]]:
        """The front as steps: below and to the left of them a point is beaten; nothing lies between two points."""
        corners: list[tuple[float, float]] = []
        for one in self.front:
            if corners:
                corners.append((corners[-1][0], y(one.y)))
            corners.append((x(one.x), y(one.y)))
        return corners

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        left, right, top, bottom = (46, 14, 34, 330) if narrow else (60, 30, 34, 430)
        x, y = self.scales(left, width - right, top, bottom)
        names = [middle(one.name, 16 if narrow else 30) for one in self.drawn]
        spots = [(x(one.x), y(one.y)) for one in self.drawn]
        places = place_labels(spots, names, (left, width - right), (top, bottom))
        drawn: list[object] = [
            text(f"{self.y_title} (↑ up is better)", 0, 14, class_="axis-title"),
            *vertical_axis(y, ticks(y.low, y.high, 5), left, width - right),
            *horizontal_axis(
                x, ticks(x.low, x.high, 4 if narrow else 8), bottom, f"{self.x_title} (→ right is better)"
            ),
            path(self.stairs(x, y), class_="front"),
        ]
        for one, name, spot, place in zip(self.drawn, names, spots, places, strict=True):
            at = (spot[0] + place.x, spot[1] + place.y)
            weight = "font-weight:600" if one.front else None
            caption = text(name, *at, class_="label halo", text_anchor=place.anchor, style=weight)
            drawn.append(group([_mark(one, *spot), caption, element("title", one.says)], class_="dot"))
        return drawing(drawn, width=width, height=bottom + 46, label=self.label)

    def scales(self, left: float, right: float, top: float, bottom: float) -> tuple[Scale, Scale]:
        """Both axes, turned so that better is right and up."""
        across, up = self.limits
        x = Scale(*across, left, right) if self.x_better > 0 else Scale(*across, right, left)
        y = Scale(*up, bottom, top) if self.y_better > 0 else Scale(*up, top, bottom)
        return x, y


def _mark(one: TradeoffPoint, x: float, y: float) -> Markup:
    if one.style is None:
        stroke = {"stroke": "var(--ink)", "stroke_width": 2.2}
        return path([(x - 5, y - 5), (x + 5, y + 5), None, (x - 5, y + 5), (x + 5, y - 5)], **stroke)
    full = {"fill": "var(--paper)", "stroke": one.style.variable, "stroke_width": 2.2} if one.hollow else one.style.dot
    return element("circle", cx=x, cy=y, r=6.5 if one.front else 5, **full)


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
