"""A histogram whose bars are divided into what was accepted and what was not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import PageChart
from convergebench.report.charts.plot import CLIP, Axis, Datum, Plot, PlotMargins, Spec
from convergebench.report.palette import Style

WIDTH = 330


@dataclass(frozen=True, slots=True)
class HistogramBin:
    """From `low` to `high`: how many, and how many of them were accepted. `name` replaces the range on the axis."""

    low: float
    high: float
    n: int
    accepted: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Histogram(PageChart):
    """330 wide; `rule` is drawn as a line with its name."""

    bins: Sequence[HistogramBin]
    style: Style
    label: str
    rule: tuple[str, float] | None = None

    @property
    def widths(self) -> tuple[int, ...]:
        """One width."""
        return (WIDTH,)

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        most = max((one.n for one in self.bins), default=0) or 1
        named = any(one.name for one in self.bins)
        start = 0.0 if named or not self.bins else self.bins[0].low
        end = float(len(self.bins)) if named or not self.bins else self.bins[-1].high
        marks = () if named else (0, 0.25, 0.5, 0.75, 1)
        across = Axis(start, end, "", 5, marks, grid=False, format="~g", labels=not named)
        plot = Plot(width, 154, PlotMargins(38, 8, 14, 24), across, Axis(0, most, "", 3, whole=True))
        bars: list[Datum] = [
            {
                "group": one.name or f"{one.low:g}–{one.high:g}",
                "x": place + 0.2 if named else one.low,
                "x2": place + 0.8 if named else one.high,
                "n": one.n,
                "accepted": one.accepted,
                "says": f"{one.name or f'{one.low:g}–{one.high:g}'}: {one.n}, of which accepted {one.accepted}",
            }
            for place, one in enumerate(self.bins)
        ]
        colour: Spec = {"fill": self.style.variable, "stroke": "var(--paper)", "strokeWidth": 1, "clip": CLIP}
        base = [{**bar, "zero": 0} for bar in bars]
        plot.add("rect", base, y="zero", y2="n", fillOpacity=0.3, **colour)
        plot.add("rect", base, y="zero", y2="accepted", **colour)
        names = [{"x": place + 0.5, "text": one.name} for place, one in enumerate(self.bins) if one.name]
        plot.add("text", names, y=plot.high + 16, color="var(--soft)", unless="datum.x < x0 || datum.x > x1")
        if self.rule is not None:
            plot.add("rule", [{"x": self.rule[1]}], y=-8, y2=plot.high, color="var(--ink)", strokeDash=[3, 3])
            name = [{"x": self.rule[1], "text": self.rule[0]}]
            plot.add("text", name, y=-3, dx=-5, align="right", fontSize=11, color="var(--soft)", named="halo")
        columns = [["group", "bin"], ["n", "n"], ["accepted", "accepted"]]
        plot.meta["table"] = {"data": plot.named(base), "columns": columns}
        return plot.spec()
