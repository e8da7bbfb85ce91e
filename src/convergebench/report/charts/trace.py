"""The score of one chain, step by step, with dots at the steps whose pictures are shown below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import NARROW, PageChart
from convergebench.report.charts.plot import CLIP, Axis, Datum, Plot, PlotMargins, Spec, disc, download, mark_of
from convergebench.report.charts.scale import span, whole_ticks
from convergebench.report.charts.series import drawable
from convergebench.report.palette import Style
from convergebench.report.wording import number


@dataclass(frozen=True, slots=True)
class TraceChart(PageChart):
    """One metric along one chain: step → value (None is a gap), with a dot at the steps whose pictures are shown."""

    title: str
    values: dict[int, float | None]
    marks: Sequence[int]
    last: int
    style: Style
    label: str
    axis: bool = True
    """False for a chart that shares the step axis of the chart below."""

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        narrow = width <= NARROW
        known = {step: value for step, value in self.values.items() if drawable(value)}
        below = 44 if self.axis else 14
        last = max(1, self.last)
        plot = Plot(
            width,
            (150 if narrow else 176) + below,
            PlotMargins(44, 20, 30, below) if narrow else PlotMargins(58, 28, 30, below),
            Axis(
                0,
                last,
                "steps" if self.axis else "",
                10,
                whole_ticks(last, 5 if narrow else 10),
                whole=True,
                grid=False,
                labels=self.axis,
            ),
            Axis(*span(known.values(), pad=0.12), self.title, 4),
        )
        points: list[Datum] = [{"x": step, "y": known.get(step)} for step in sorted(self.values)]
        plot.add("line", points, color=self.style.variable, strokeWidth=2.2, clip=CLIP)
        dots: list[Datum] = [
            {"x": step, "y": known[step], "says": f"step {step}: {number(known[step])}"}
            for step in self.marks
            if step in known
        ]
        plot.add("point", dots, size=disc(4.5), clip=CLIP, **mark_of(self.style))
        plot.meta |= download(plot, points, x="step", y=self.title)
        return plot.spec()
