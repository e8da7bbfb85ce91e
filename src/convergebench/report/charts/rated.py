"""What people answered about each method: bars for how often each value was given, a dot for the mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import PageChart
from convergebench.report.charts.plot import CLIP, Axis, Datum, Spec, mark_of
from convergebench.report.charts.rows import row_plot
from convergebench.report.charts.series import drawable
from convergebench.report.palette import Style
from convergebench.report.wording import interval, number, percent

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

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        axis = Axis(self.low - 0.5, self.high + 0.5, self.title, 8, self.marks, whole=True)
        high = (ROW, ROW + 18)
        base = (1 - 24 / high[0], 1 - 24 / high[1])
        plot = row_plot(width, len(self.rows), axis, row=high, left=210, right=(64, 46), top=4, middle_of=base)
        if self.best is not None:
            plot.line_at(self.best)
        plot.names([one.name for one in self.rows], lift=BARS + 12)
        rows = list(zip(self.rows, plot.ys, strict=True))
        plot.add("rule", [{"y": y} for _, y in rows], px="y", x=0, x2=plot.wide, color="var(--grid)")
        bars: list[Datum] = [
            {
                **{"name": one.name, "x": value - 0.34, "x2": value + 0.34, "at": value, "y": y},
                **{"y2": y - BARS * share / self.tallest, "share": share, "n": n, "fill": one.style.variable},
                "text": f"{100 * share:.0f}" if share >= 0.005 else "",
                "says": f"{one.name}, {number(value, 0)}: {percent(share)} ({n})",
            }
            for one, y in rows
            for value, share, n in one.answers
        ]
        plot.add("rect", bars, px="y", opacity=0.32, clip=CLIP)
        plot.add("text", bars, px="y", x="at", x2="none", y="y2", y2="none", dy=-3, color="var(--soft)", clip=CLIP)
        means: list[Datum] = [
            {
                **{"name": one.name, "x": one.mean, "low": one.low, "high": one.high, "y": y + 10},
                **{"colour": one.style.variable, **mark_of(one.style)},
                "says": f"{one.name}: mean {number(one.mean, 2)} ({interval(one.low, one.high, 2) or 'no interval'})",
            }
            for one, y in rows
            if drawable(one.mean)
        ]
        plot.whiskers(means)
        plot.dots(means)
        plot.ys = [y + 10 for y in plot.ys]
        plot.values([number(one.mean, 2) if drawable(one.mean) else "no mean" for one in self.rows])
        plot.series = [(one.name, one.style) for one in self.rows]
        columns = [["name", "method"], ["at", "answer"], ["share", "share"], ["n", "n"]]
        plot.meta["table"] = {"data": plot.named(bars), "columns": columns}
        return plot.spec()
