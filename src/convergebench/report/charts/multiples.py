"""Small multiples: many small charts of one kind, on shared axes unless the units differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from convergebench.report.charts.lines import last_x, stroke
from convergebench.report.charts.scale import Scale, span, tick_text, ticks
from convergebench.report.charts.series import LineSeries, thin
from convergebench.report.charts.svg import PageChart, drawing, line, text


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

    def __html__(self) -> str:
        return self.svg(250)

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        left, right, top, bottom = 40, 8, 12, 120
        low, high = self.limits or span([p.value for one in self.series for p in one.points], least=self.least)
        end = self.last if self.last is not None else last_x(self.series)
        x, y = Scale(0, max(1, end), left, width - right), Scale(low, high, bottom, top)
        marks = ticks(low, high, 3)
        if len(marks) < 2:  # one number does not show the scale
            marks = ticks(low, high, 6)
        parts: list[object] = []
        for mark in marks:
            parts.append(line(left, y(mark), width - right, y(mark), class_="grid"))
            parts.append(text(tick_text(mark, marks), left - 6, y(mark) + 4, class_="tick", text_anchor="end"))
        parts.append(line(left, bottom, width - right, bottom, class_="axis"))
        parts.append(text("0", x(0), bottom + 16, class_="tick", text_anchor="middle"))
        parts.append(text(f"{end} {self.x_title}", width - right, bottom + 16, class_="tick", text_anchor="end"))
        parts.extend(stroke(replace(one, points=thin(one.points, 18)), x, y) for one in self.series)
        listed = "; ".join(
            f"{one.name} {tick_text(one.last.value, [0, 0.001])}"
            for one in self.series
            if one.last and one.last.value is not None
        )
        label = f"{self.title}, {self.note}. Last values: {listed or 'none'}"
        return drawing(parts, width=width, height=bottom + 22, label=label)


def shared_limits(panels: Sequence[Sequence[LineSeries]], *, include: Sequence[float] = ()) -> tuple[float, float]:
    """One vertical range for all panels."""
    return span([p.value for panel in panels for one in panel for p in one.points], include=include)
