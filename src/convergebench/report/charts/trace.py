"""The score of one chain, step by step, with dots at the steps whose pictures are shown below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.scale import Scale, horizontal_axis, span, ticks, vertical_axis, whole_ticks
from convergebench.report.charts.series import drawable
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, path, text
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

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        left, right, top, bottom = (44, 20, 30, 150) if narrow else (58, 28, 30, 176)
        known = {step: value for step, value in self.values.items() if value is not None and drawable(value)}
        low, high = span(known.values(), pad=0.12)
        x, y = Scale(0, max(1, self.last), left, width - right), Scale(low, high, bottom, top)
        parts: list[object] = [
            text(self.title, 0, 14, class_="axis-title"),
            *vertical_axis(y, ticks(low, high, 4), left, width - right),
        ]
        if self.axis:
            parts += horizontal_axis(x, whole_ticks(self.last, 5 if narrow else 10), bottom, "steps")
        points = [(x(step), y(known[step])) if step in known else None for step in sorted(self.values)]
        parts.append(path(points, stroke=self.style.variable, class_="curve"))
        for step in self.marks:
            if step in known:
                says = element("title", f"step {step}: {number(known[step])}")
                dot = element("circle", cx=x(step), cy=y(known[step]), r=4.5, **self.style.dot)
                parts.append(group([says, dot], class_="dot"))
        return drawing(parts, width=width, height=bottom + (44 if self.axis else 14), label=self.label)
