"""Survival curves: steps with ticks for censored chains, and below them the number of chains at risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from convergebench.report.charts.labels import LineEnd, end_labels
from convergebench.report.charts.scale import Scale, horizontal_axis, vertical_axis, whole_ticks
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, line, text
from convergebench.report.palette import Style
from convergebench.report.wording import middle, percent


@dataclass(frozen=True, slots=True)
class SurvivalPoint:
    """One editor's curve at one round."""

    round: int
    survival: float | None
    low: float | None
    high: float | None
    at_risk: int
    censored: int


@dataclass(frozen=True, slots=True)
class SurvivalCurve:
    """One editor's survival curve."""

    name: str
    style: Style
    stairs: tuple[SurvivalPoint, ...]


@dataclass(frozen=True, slots=True)
class SurvivalChart(PageChart):
    """Share of chains still above the level after n rounds; a tick marks chains that were observed only so far.

    The axis reaches to `rounds` even if every chain has passed the level before.
    """

    cases: Sequence[SurvivalCurve]
    title: str
    label: str
    rounds: int = 1
    x_title: str = "round trips"

    @property
    def last(self) -> int:
        """Where the horizontal axis ends."""
        return max(self.rounds, *(stair.round for case in self.cases for stair in case.stairs), 1)

    @property
    def drawn(self) -> list[SurvivalCurve]:
        """The curves as far as they are known."""
        return [_to_the_end(case, self.last) for case in self.cases]

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        left, right, top, bottom = (38, 96, 34, 260) if narrow else (150, 190, 34, 310)
        x, y = Scale(0, self.last, left, width - right), Scale(0, 1.02, bottom, top)
        marks = whole_ticks(self.last, 4 if narrow else 10)
        cases = self.drawn
        ends = [
            LineEnd(case.name, x(case.stairs[-1].round), y(case.stairs[-1].survival or 0.0), case.style)
            for case in cases
            if case.stairs
        ]
        parts = [
            text(self.title, 0, 14, class_="axis-title"),
            *vertical_axis(y, [0, 0.25, 0.5, 0.75, 1], left, width - right),
            *horizontal_axis(x, marks, bottom, self.x_title),
            *(_curve(case, x, y) for case in cases if case.stairs),
            end_labels(ends, x=width - right + 22, low=top, high=bottom - 4, room=11 if narrow else 24),
            _at_risk(cases, x, marks, bottom + 62, narrow),
        ]
        return drawing(parts, width=width, height=bottom + 72 + 16 * len(cases), label=self.label)


def _to_the_end(case: SurvivalCurve, last: int) -> SurvivalCurve:
    """A curve that has reached 0 continues to the end of the axis; others end with the observation."""
    end = case.stairs[-1] if case.stairs else None
    if end is None or end.survival != 0 or end.round >= last:
        return case
    return replace(case, stairs=(*case.stairs, SurvivalPoint(last, 0.0, 0.0, 0.0, 0, 0)))


def _curve(case: SurvivalCurve, x: Scale, y: Scale) -> Markup:
    outline, before = "", None
    for stair in case.stairs:
        if stair.survival is None:
            continue
        if before is None:
            outline = f"M{x(stair.round):.0f} {y(stair.survival):.0f}"
        elif stair.survival != before or stair is case.stairs[-1]:
            outline += f"H{x(stair.round):.0f}V{y(stair.survival):.0f}"
        before = stair.survival
    colour = case.style.variable
    ticks = [
        line(x(s.round), y(s.survival) - 5, x(s.round), y(s.survival) + 5, stroke=colour, class_="censor")
        for s in case.stairs
        if s.censored and s.survival is not None
    ]
    every = max(1, len(case.stairs) // 6)
    says = "\n".join(f"after {s.round}: {percent(s.survival)}, {s.at_risk} at risk" for s in case.stairs[::every])
    dash = case.style.dash or None
    steps = element("path", d=outline, fill="none", stroke=colour, stroke_dasharray=dash, class_="curve")
    return group([steps, *ticks, element("title", f"{case.name}\n{says}")])


def at_risk(case: SurvivalCurve, mark: int) -> int:
    """The number at risk at a round; without a row for it that of the next row, 0 after the last."""
    return next((stair.at_risk for stair in case.stairs if stair.round >= mark), 0)


def _at_risk(cases: Sequence[SurvivalCurve], x: Scale, marks: Sequence[int], top: float, narrow: bool) -> Markup:
    """One line of counts per editor, under the ticks they belong to."""
    parts = [text("chains at risk", 0, top - 10, class_="axis-title")]
    for place, case in enumerate(cases):
        y = top + 8 + 16 * place
        parts.append(element("circle", cx=5, cy=y - 4, r=4, **case.style.dot))
        if not narrow:
            parts.append(text(middle(case.name, 17), 15, y, class_="tick"))
        counts = [element("tspan", at_risk(case, mark), x=x(mark)) for mark in marks]
        parts.append(element("text", *counts, y=y, class_="tick", text_anchor="middle"))
    return group(parts)
