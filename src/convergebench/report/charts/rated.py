"""What people answered about each method: bars for how often each value was given, a dot for the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.scale import Scale, horizontal_axis
from convergebench.report.charts.series import drawable
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, line, text
from convergebench.report.palette import Style
from convergebench.report.wording import interval, middle, number, percent

ROW, BARS = 78, 46
"""Height of a row, and of the highest bar of all rows."""


@dataclass(frozen=True, slots=True)
class RatedRow:
    """One method: (value, share, n) of its answers, and their mean with its interval."""

    name: str
    style: Style
    answers: tuple[tuple[float, float, int], ...]
    mean: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class RatedChart(PageChart):
    """Rows on one axis of answers from `low` to `high`; `best` is marked where it is not an end of the scale."""

    rows: Sequence[RatedRow]
    low: int
    high: int
    title: str
    label: str
    best: int | None = None

    @property
    def tallest(self) -> float:
        """The largest share of any answer."""
        return max((share for row in self.rows for _, share, _ in row.answers), default=0.0) or 1.0

    @property
    def marks(self) -> list[float]:
        """The whole numbers of the scale."""
        return [float(value) for value in range(self.low, self.high + 1)]

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        row, top = (ROW + 18, 4) if narrow else (ROW, 4)
        left, right = (8, 46) if narrow else (210, 64)
        bottom = top + row * max(1, len(self.rows))
        x = Scale(self.low - 0.5, self.high + 0.5, left, width - right)
        parts: list[object] = [line(x(mark), top, x(mark), bottom, class_="grid") for mark in self.marks]
        if self.best is not None:
            parts.append(line(x(self.best), top, x(self.best), bottom, class_="unit"))
        parts += horizontal_axis(x, self.marks, bottom, self.title)
        parts += [self._row(one, x, top + row * (place + 1) - 24, narrow) for place, one in enumerate(self.rows)]
        return drawing(parts, width=width, height=bottom + 44, label=self.label)

    def _row(self, one: RatedRow, x: Scale, base: float, narrow: bool) -> Markup:
        colour, half = one.style.variable, (x(1) - x(0)) * 0.34
        name_at = (x.start, base - BARS - 12) if narrow else (x.start - 16, base - 4)
        drawn: list[object] = [
            text(
                middle(one.name, 40 if narrow else 28),
                *name_at,
                class_="label",
                text_anchor="start" if narrow else "end",
            ),
            line(x.start, base, x.end, base, class_="grid"),
        ]
        for value, share, n in one.answers:
            high = BARS * share / self.tallest
            bar = {"x": x(value) - half, "y": base - high, "width": 2 * half, "height": high}
            says = element("title", f"{one.name}, {number(value, 0)}: {percent(share)} ({n})")
            drawn.append(group([element("rect", **bar, fill=colour, fill_opacity=0.32), says]))
            if share >= 0.005:
                drawn.append(text(f"{100 * share:.0f}", x(value), base - high - 3, class_="tick", text_anchor="middle"))
        return group([*drawn, *_mean(one, x, base + 10)])


def _mean(one: RatedRow, x: Scale, y: float) -> list[object]:
    if one.mean is None or not drawable(one.mean):
        return [text("no mean", x.end + 8, y + 4, class_="level-name")]
    colour = one.style.variable
    drawn: list[object] = []
    if one.low is not None and one.high is not None and drawable(one.low) and drawable(one.high):
        drawn.append(line(x(one.low), y, x(one.high), y, stroke=colour, class_="whisker"))
    ends = interval(one.low, one.high, 2)
    drawn += [
        element("circle", cx=x(one.mean), cy=y, r=5, **one.style.dot),
        element("title", f"{one.name}: mean {number(one.mean, 2)}" + (f" ({ends})" if ends else "")),
    ]
    return [group(drawn, class_="dot"), text(number(one.mean, 2), x.end + 10, y + 4, class_="value")]
