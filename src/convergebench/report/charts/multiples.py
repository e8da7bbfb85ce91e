"""Small multiples: many small charts of one kind, on shared axes unless the units differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from convergebench.report.charts.base import PageChart
from convergebench.report.charts.lines import add_columns, add_lines, last_x, points_of
from convergebench.report.charts.plot import Axis, Plot, PlotMargins, Spec
from convergebench.report.charts.scale import span, ticks
from convergebench.report.charts.series import LineSeries, thin
from convergebench.report.wording import number

WIDTH = 250


@dataclass(frozen=True, slots=True)
class SmallChart(PageChart):
    """A chart 250 wide: two ticks on each axis, lines without bands. `limits` None means: fit the values."""

    title: str
    note: str
    series: Sequence[LineSeries]
    limits: tuple[float, float] | None = None
    least: float = 0.0
    """Least span of the axis."""
    x_title: str = "round trips"
    last: int | None = None
    """Where the horizontal axis ends, if not with the lines."""

    @property
    def label(self) -> str:
        """What a screen reader says."""
        listed = "; ".join(
            f"{one.name} {number(one.last.value)}" for one in self.series if one.last and one.last.value is not None
        )
        return f"{self.title}, {self.note}. Last values: {listed or 'none'}"

    @property
    def widths(self) -> tuple[int, ...]:
        """One width."""
        return (WIDTH,)

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        low, high = self.limits or span([p.value for one in self.series for p in one.points], least=self.least)
        end = max(1, self.last if self.last is not None else last_x(self.series))
        marks = ticks(low, high, 3)
        plot = Plot(
            width,
            142,
            PlotMargins(40, 8, 12, 22),
            Axis(0, end, "", 3, (0,), whole=True, grid=False),
            Axis(low, high, "", 3 if len(marks) > 1 else 6, marks if len(marks) > 1 else ticks(low, high, 6)),
            [(one.name, one.style) for one in self.series],
        )
        points = points_of([replace(one, points=thin(one.points, 18)) for one in self.series])
        add_lines(plot, points, banded=False)
        foot = [{"x": plot.wide, "y": plot.high + 16, "text": f"{end} {self.x_title}"}]
        plot.add("text", foot, px="xy", align="right", color="var(--soft)", unless="zoomed")
        add_columns(plot, points, "after")
        return plot.spec()


def shared_limits(panels: Sequence[Sequence[LineSeries]], *, include: Sequence[float] = ()) -> tuple[float, float]:
    """One vertical range for all panels."""
    return span([p.value for panel in panels for one in panel for p in one.points], include=include)
