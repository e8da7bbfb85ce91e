"""Charts of the audit: shares of failures with intervals, and the effect of content beside that of damage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.scale import Scale, horizontal_axis, span, ticks
from convergebench.report.charts.series import drawable
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, line, text
from convergebench.report.wording import interval, middle, number

BLUE = "var(--fail)"


@dataclass(frozen=True, slots=True)
class FailureShare:
    """One metric: the share of pictures on which it fails, on the mean of runs and in any single run."""

    name: str
    share: float | None
    low: float | None
    high: float | None
    any_run: float | None
    counted: str
    """`3 / 12`."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ShareChart(PageChart):
    """Rows in the given order; the axis always covers 0 to 100 %, so that charts compare."""

    shares: Sequence[FailureShare]
    label: str

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        row, left, right = (38, 8, 62) if narrow else (26, 190, 84)
        bottom = 8 + row * max(1, len(self.shares))
        x = Scale(0, 100, left, width - right)
        marks = [0.0, 50.0, 100.0] if narrow else [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        grid = [line(x(mark), 8, x(mark), bottom, class_="grid") for mark in marks]
        at = 0.68 if narrow else 0.5
        drawn = [_share(one, x, 8 + row * (place + at), narrow) for place, one in enumerate(self.shares)]
        axis = horizontal_axis(x, marks, bottom, "% of pictures that fail (← better)")
        return drawing([*grid, *axis, *drawn], width=width, height=bottom + 44, label=self.label)


def _named(name: str, x: Scale, y: float, narrow: bool) -> Markup:
    at = (x.start, y - 12) if narrow else (x.start - 16, y + 4)
    return text(middle(name, 40 if narrow else 25), *at, class_="label", text_anchor="start" if narrow else "end")


def _share(one: FailureShare, x: Scale, y: float, narrow: bool) -> Markup:
    name = _named(one.name, x, y, narrow)
    if one.share is None:
        return group([name, text(one.note or "nothing known", x.start + 4, y + 4, class_="level-name")])
    parts: list[object] = [name]
    if one.low is not None and one.high is not None:
        parts.append(line(x(100 * one.low), y, x(100 * one.high), y, stroke=BLUE, class_="whisker"))
    if one.any_run is not None and one.any_run != one.share:
        ring = {"fill": "var(--paper)", "stroke": BLUE, "stroke_width": "2"}
        parts.append(element("circle", cx=x(100 * one.any_run), cy=y, r=4, **ring))
    parts.append(element("circle", cx=x(100 * one.share), cy=y, r=5, fill=BLUE))
    parts.append(text(one.counted, x.end + 12, y + 4, class_="value"))
    ends = interval(_percent(one.low), _percent(one.high), 0)
    says = f"{one.name}: {one.counted} pictures fail" + (f", {ends} %" if ends else ", no interval")
    return group([*parts, element("title", says)], class_="dot")


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


@dataclass(frozen=True, slots=True)
class MetricConfound:
    """One metric: the spread over untouched images, the change by damage, and the ratio of the two."""

    name: str
    spread: float | None
    gap: float | None
    ratio: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ConfoundChart(PageChart):
    """An open dot for the spread over content, a full one for the change by damage, a line between, and the ratio."""

    rows: Sequence[MetricConfound]
    label: str

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        row, left, right = (38, 8, 62) if narrow else (26, 190, 150)
        bottom = 22 + row * max(1, len(self.rows))
        known = [v for one in self.rows for v in (one.spread, abs(one.gap) if one.gap is not None else None)]
        x = Scale(0, span(known, include=(0,))[1], left, width - right)
        marks = ticks(0, x.high, 4 if narrow else 7)
        grid = [line(x(mark), 22, x(mark), bottom, class_="grid") for mark in marks]
        at = 0.68 if narrow else 0.5
        drawn = [_confound(one, x, 22 + row * (place + at), narrow) for place, one in enumerate(self.rows)]
        head = text("ratio", x.end + 12, 12, class_="axis-title")
        axis = horizontal_axis(x, marks, bottom, "points of the 0–100 scale")
        return drawing([head, *grid, *axis, *drawn], width=width, height=bottom + 44, label=self.label)


def _confound(one: MetricConfound, x: Scale, y: float, narrow: bool) -> Markup:
    parts: list[object] = [_named(one.name, x, y, narrow)]
    ends = [value for value in (one.spread, None if one.gap is None else abs(one.gap)) if value is not None]
    if len(ends) == 2 and all(drawable(value) for value in ends):
        parts.append(line(x(ends[0]), y, x(ends[1]), y, stroke="var(--rule)", stroke_width="2"))
    if one.spread is not None and drawable(one.spread):
        ring = {"fill": "var(--paper)", "stroke": "var(--soft)", "stroke_width": "2"}
        parts.append(element("circle", cx=x(one.spread), cy=y, r=4.5, **ring))
    wrong = one.gap is not None and one.gap >= 0
    if one.gap is not None and drawable(one.gap):
        parts.append(element("circle", cx=x(abs(one.gap)), cy=y, r=5, fill=BLUE if wrong else "var(--ink)"))
    band = interval(one.low, one.high, 1)
    shown = number(one.ratio, 2) + ("" if narrow or not band else f"  ({band})")
    parts.append(text(shown, x.end + 12, y + 4, class_="value"))
    way = "rises by" if wrong else "falls by"
    says = f"{one.name}: untouched images spread by {number(one.spread, 2)}; damage: the score {way} "
    says += f"{number(None if one.gap is None else abs(one.gap), 2)}; ratio {number(one.ratio, 2)} {band}"
    return group([*parts, element("title", says)], class_="dot")
