"""The score of one chain, step by step, with the marked steps whose pictures stand below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.scale import Scale, horizontal_axis, span, ticks, vertical_axis, whole_ticks
from convergebench.report.charts.series import drawable
from convergebench.report.charts.svg import NARROW, drawing, element, group, path, text
from convergebench.report.palette import Style
from convergebench.report.wording import number


@dataclass(frozen=True, slots=True)
class Trace:
    """One metric along one chain: step → value (None is a gap), and the steps whose pictures are shown."""

    title: str
    values: dict[int, float | None]
    marks: Sequence[int]
    last: int
    style: Style


def draw_trace(trace: Trace, width: int, *, label: str, axis: bool = True) -> Markup:
    """A line with a numbered dot at every marked step; `axis` false leaves the steps to the chart below."""
    narrow = width <= NARROW
    left, right, top, bottom = (44, 20, 30, 150) if narrow else (58, 28, 30, 176)
    known = [value for value in trace.values.values() if value is not None and drawable(value)]
    low, high = span(known, pad=0.12)
    x, y = Scale(0, max(1, trace.last), left, width - right), Scale(low, high, bottom, top)
    parts: list[object] = [
        text(trace.title, 0, 14, class_="axis-title"),
        *vertical_axis(y, ticks(low, high, 4), left, width - right),
    ]
    if axis:
        parts += horizontal_axis(x, whole_ticks(trace.last, 5 if narrow else 10), bottom, "steps")
    walked = [
        (x(step), y(value)) if value is not None and drawable(value) else None
        for step, value in sorted(trace.values.items())
    ]
    parts.append(path(walked, stroke=trace.style.variable, class_="curve"))
    parts += [_mark(trace, step, x, y) for step in trace.marks]
    return drawing(parts, width=width, height=bottom + (44 if axis else 14), label=label)


def _mark(trace: Trace, step: int, x: Scale, y: Scale) -> Markup | None:
    value = trace.values.get(step)
    if value is None or not drawable(value):
        return None
    says = element("title", f"step {step}: {number(value)}")
    return group([says, element("circle", cx=x(step), cy=y(value), r=4.5, **trace.style.dot)], class_="dot")
