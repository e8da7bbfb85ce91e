"""Small multiples: the same little chart many times, on shared axes unless the units differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from convergebench.report.charts.curves import last_x, stroke
from convergebench.report.charts.scale import Scale, span, tick_text, ticks
from convergebench.report.charts.series import Series, thin
from convergebench.report.charts.svg import drawing, line, text


@dataclass(frozen=True, slots=True)
class Panel:
    """One small chart. `limits` None means: fit the values."""

    title: str
    note: str
    series: Sequence[Series]
    limits: tuple[float, float] | None = None
    least: float = 0.0
    """What the axis spans at least."""


def shared_limits(panels: Sequence[Sequence[Series]], *, include: Sequence[float] = ()) -> tuple[float, float]:
    """One vertical range for all panels."""
    return span([p.value for panel in panels for one in panel for p in one.points], include=include)


def draw_panel(panel: Panel, *, x_title: str = "round trips", last: int | None = None) -> Markup:
    """A chart 250 wide: two ticks on each axis, lines without bands, colours as everywhere."""
    width, left, right, top, bottom = 250, 40, 8, 12, 120
    low, high = panel.limits or span([p.value for one in panel.series for p in one.points], least=panel.least)
    end = last if last is not None else last_x(panel.series)
    x, y = Scale(0, max(1, end), left, width - right), Scale(low, high, bottom, top)
    marks = ticks(low, high, 3)
    if len(marks) < 2:  # one number alone says nothing about the scale
        marks = ticks(low, high, 6)
    parts: list[object] = []
    for mark in marks:
        parts.append(line(left, y(mark), width - right, y(mark), class_="grid"))
        parts.append(text(tick_text(mark, marks), left - 6, y(mark) + 4, class_="tick", text_anchor="end"))
    parts.append(line(left, bottom, width - right, bottom, class_="axis"))
    parts.append(text("0", x(0), bottom + 16, class_="tick", text_anchor="middle"))
    parts.append(text(f"{end} {x_title}", width - right, bottom + 16, class_="tick", text_anchor="end"))
    parts.extend(stroke(replace(one, points=thin(one.points, 18)), x, y) for one in panel.series)
    listed = "; ".join(
        f"{one.name} {tick_text(one.last.value, [0, 0.001])}"
        for one in panel.series
        if one.last and one.last.value is not None
    )
    label = f"{panel.title}, {panel.note}. Last values: {listed or 'none'}"
    return drawing(parts, width=width, height=bottom + 22, label=label)
