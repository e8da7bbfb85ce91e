"""Survival curves: steps with ticks for censored chains, and below them the number of chains at risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from convergebench.report.charts.base import NARROW, PageChart
from convergebench.report.charts.labels import LineEnd, end_labels
from convergebench.report.charts.lines import add_columns
from convergebench.report.charts.plot import CLIP, Axis, Datum, Plot, PlotMargins, Spec, disc, mark_of
from convergebench.report.charts.scale import whole_ticks
from convergebench.report.palette import Style
from convergebench.report.wording import middle


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

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        narrow = width <= NARROW
        cases = [case for case in self.drawn if case.stairs]
        below = 72 + 16 * len(cases)
        marks = whole_ticks(self.last, 4 if narrow else 10)
        plot = Plot(
            width,
            (260 if narrow else 310) + below,
            PlotMargins(38, 96, 34, below) if narrow else PlotMargins(150, 190, 34, below),
            Axis(0, self.last, self.x_title, 10, marks, whole=True, grid=False),
            Axis(0, 1.02, self.title, 5, (0, 0.25, 0.5, 0.75, 1), format=".2f"),
            [(case.name, case.style) for case in cases],
        )
        points: list[Datum] = [
            {"name": case.name, "x": s.round, "y": s.survival, "low": s.low, "high": s.high, "n": s.at_risk}
            | ({"censored": s.censored} if s.censored else {})
            for case in cases
            for s in case.stairs
            if s.survival is not None
        ]
        plot.add("line", points, coloured=True, interpolate="step-after", strokeWidth=2.2, clip=CLIP)
        ended = [row for row in points if row.get("censored")]
        tick: Spec = {"shape": "stroke", "angle": 90, "size": 100, "strokeWidth": 1.5, "filled": False}
        plot.add("point", ended, coloured=True, named="censored", clip=CLIP, **tick)
        add_columns(plot, points, "after", "at risk:")
        x, y = plot.across(), plot.up()
        last = [(case, case.stairs[-1]) for case in cases]
        ends = [LineEnd(case.name, x(end.round), y(end.survival or 0.0)) for case, end in last]
        end_labels(plot, ends, room=11 if narrow else 24)
        _add_at_risk(plot, cases, marks, narrow=narrow)
        return plot.spec()


def _to_the_end(case: SurvivalCurve, last: int) -> SurvivalCurve:
    """A curve that has reached 0 continues to the end of the axis; others end with the observation."""
    end = case.stairs[-1] if case.stairs else None
    if end is None or end.survival != 0 or end.round >= last:
        return case
    return replace(case, stairs=(*case.stairs, SurvivalPoint(last, 0.0, 0.0, 0.0, 0, 0)))


def at_risk(case: SurvivalCurve, mark: int) -> int:
    """The number at risk at a round; without a row for it that of the next row, 0 after the last."""
    return next((stair.at_risk for stair in case.stairs if stair.round >= mark), 0)


def _add_at_risk(plot: Plot, cases: Sequence[SurvivalCurve], marks: Sequence[int], *, narrow: bool) -> None:
    """One line of counts per editor, under the ticks they belong to."""
    left, top = -plot.margins.left, plot.high + 70
    soft: Spec = {"color": "var(--soft)", "named": "risk"}
    plot.add("text", [{"x": left, "y": top - 18, "text": "chains at risk"}], px="xy", align="left", **soft, fontSize=13)
    rows = [(case, top + 16 * place) for place, case in enumerate(cases)]
    dots = [{"name": case.name, "x": left + 5, "y": y - 4, **mark_of(case.style)} for case, y in rows]
    plot.add("point", dots, px="xy", size=disc(4), dimmed=0.35)
    if not narrow:
        names = [{"name": case.name, "x": left + 15, "y": y, "text": middle(case.name, 17)} for case, y in rows]
        plot.add("text", names, px="xy", align="left", dimmed=0.35, **soft)
    counts = [{"x": mark, "y": y, "text": str(at_risk(case, mark))} for case, y in rows for mark in marks]
    plot.add("text", counts, px="y", align="center", unless="datum.x < x0 || datum.x > x1", **soft)
