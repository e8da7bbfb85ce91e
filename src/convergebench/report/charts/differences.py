"""Differences to a baseline: dots with intervals about a zero line, one block per step, one row per variant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import NARROW, WIDE, PageChart
from convergebench.report.charts.plot import Axis, Datum, PlotMargins, Spec, download, mark_of
from convergebench.report.charts.rows import RowPlot
from convergebench.report.charts.scale import span
from convergebench.report.charts.series import drawable
from convergebench.report.palette import Style
from convergebench.report.wording import middle

GAP = 9
"""Distance between the dots of two editors in one row."""
HEAD = 26
"""Height of the line that names a column."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One editor's difference with its interval; `says` is the tooltip."""

    name: str
    style: Style
    value: float | None
    low: float | None
    high: float | None
    says: str


@dataclass(frozen=True, slots=True)
class VariantLine:
    """One variant: a note on its baseline, and its dots in each column."""

    name: str
    note: str
    columns: tuple[tuple[Difference, ...], ...]

    @property
    def height(self) -> int:
        """Room for as many dots as the fullest column has."""
        return 22 + GAP * max((len(dots) for dots in self.columns), default=1)


@dataclass(frozen=True, slots=True)
class DifferenceChart(PageChart):
    """Columns one below the other, with one axis for all.

    `better` is 1 where a greater value is better, −1 where a smaller one is, 0 where neither is.
    """

    lines: Sequence[VariantLine]
    columns: Sequence[str]
    title: str
    label: str
    better: int
    small: bool = False
    """Only as wide as a phone, for charts side by side."""

    @property
    def widths(self) -> tuple[int, ...]:
        """Both, or the narrow one."""
        return (NARROW,) if self.small else (WIDE, NARROW)

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        narrow = width <= NARROW
        dots = [dot for one in self.lines for column in one.columns for dot in column]
        limits = span([v for dot in dots for v in (dot.value, dot.low, dot.high)], include=(0.0,), pad=0.08)
        extra, heads = (16 if narrow else 0), [name for name in self.columns if name]
        step = sum(one.height + extra for one in self.lines) + (HEAD if heads else 0)
        top = 44.0
        plot = RowPlot(
            width,
            top + step * max(1, len(self.columns)) + 30,
            PlotMargins(8, 16, top, 30) if narrow else PlotMargins(218, 14, top, 30),
            Axis(*limits, count=4 if narrow else 7),
            series=list({dot.name: (dot.name, dot.style) for dot in dots}.values()),
            narrow=narrow,
        )
        title = [{"x": -plot.margins.left, "y": -30, "text": self.title}]
        plot.add("text", title, px="xy", align="left", fontSize=13, color="var(--soft)")
        plot.line_at(0.0, above=4)
        ways = {1: ("← worse", "better →"), -1: ("← better", "worse →"), 0: ("", "")}[self.better]
        plot.ways(0.0, *ways)
        rows: list[Datum] = []
        for place, name in enumerate(self.columns):
            y = step * place
            if heads:
                head = [{"x": 0 if narrow else -plot.margins.left, "y": y + 14, "text": name}]
                plot.add("text", head, px="xy", align="left", fontSize=13, fontWeight=600, named="halo")
                y += HEAD
            rows += self._column(plot, place, y, extra)
        plot.whiskers(rows)
        plot.dots(rows, 4)
        plot.meta |= download(plot, rows, x="difference")
        return plot.spec()

    def _column(self, plot: RowPlot, place: int, y: float, extra: float) -> list[Datum]:
        """The dots of one column from `y` down; their names are added to the plot."""
        rows: list[Datum] = []
        names: list[Datum] = []
        notes: list[Datum] = []
        missing: list[Datum] = []
        for one in self.lines:
            if plot.narrow:
                names.append({"x": 0, "y": y + 14, "text": middle(f"{one.name}, {one.note}", 52)})
            else:
                names.append({"x": -18, "y": y + one.height / 2, "text": middle(one.name, 30)})
                notes.append({"x": -18, "y": y + one.height / 2 + 14, "text": middle(one.note, 34)})
            dots = [dot for dot in one.columns[place] if drawable(dot.value)]
            first = y + extra + (one.height - GAP * (len(one.columns[place]) - 1)) / 2
            rows += [
                {
                    **{"group": f"{one.name} {self.columns[place]}".strip(), "name": dot.name, "x": dot.value},
                    **{"low": dot.low, "high": dot.high, "y": first + GAP * number, "says": dot.says},
                    **{"colour": dot.style.variable, **mark_of(dot.style)},
                }
                for number, dot in enumerate(dots)
            ]
            if not dots:
                missing.append({"x": 4, "y": y + extra + one.height / 2 + 4, "text": "no value"})
            y += one.height + extra
        align = "left" if plot.narrow else "right"
        plot.add("text", names, px="xy", align=align, fontSize=13, named="halo")
        plot.add("text", notes, px="xy", align=align, color="var(--soft)")
        plot.add("text", missing, px="xy", align="left", fontSize=11, color="var(--soft)")
        return rows
