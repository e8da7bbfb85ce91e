"""Contraction factors: one dot per chain, left of 1 the steps shrink, right of 1 they grow; pale dots may be either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from convergebench.report.charts.base import NARROW, PageChart
from convergebench.report.charts.plot import Axis, Datum, Spec, download, mark_of
from convergebench.report.charts.rows import row_plot
from convergebench.report.charts.scale import span
from convergebench.report.palette import Style
from convergebench.report.wording import interval, number

MOST_DOTS = 40
"""Most dots per editor, for a readable row and a small page."""
PALE = 0.35
"""Opacity of a dot whose interval contains 1."""


class Factor(NamedTuple):
    """One chain's q with its interval, and a link to the chain."""

    q: float
    low: float
    high: float
    case: str
    verdict: str
    link: str


@dataclass(frozen=True, slots=True)
class FactorChart(PageChart):
    """A strip of dots per editor on one axis; every dot opens its chain."""

    rows: Sequence[tuple[str, Style, Sequence[Factor]]]
    label: str
    linked: ClassVar[bool] = True

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        known = [factor.q for _, _, factors in self.rows for factor in factors]
        low, high = span(known, include=(1.0,), pad=0.06, least=0.2)
        axis = Axis(max(0.0, low), high, "contraction factor q of a chain", 4 if width <= NARROW else 8)
        plot = row_plot(
            width, len(self.rows), axis, row=(34, 34), left=210, right=(16, 16), top=26, middle_of=(0.5, 0.5)
        )
        plot.line_at(1.0, above=8)
        plot.ways(1.0, "← steps shrink", "steps grow →")
        plot.names([name for name, _, _ in self.rows], lift=10)
        dots = [
            dot
            for (name, style, factors), y in zip(self.rows, plot.ys, strict=True)
            for dot in _strip(name, style, factors, y)
        ]
        plot.dots(dots, 3.5, cursor="pointer")
        plot.notes(["" if factors else "no chain moves enough to say" for _, _, factors in self.rows])
        plot.series = [(name, style) for name, style, _ in self.rows]
        plot.meta |= download(plot, dots, x="q")
        return plot.spec()


def _strip(name: str, style: Style, factors: Sequence[Factor], y: float) -> list[Datum]:
    """The dots of one row in three lines, thinned where there are many."""
    shown = sorted(factors)[:: max(1, -(-len(factors) // MOST_DOTS))]
    return [
        {
            **{"name": name, "group": factor.case, "x": factor.q, "low": factor.low, "high": factor.high},
            **{"y": y + (place % 3 - 1) * 4.0, **mark_of(style), "link": factor.link},
            "opacity": PALE if factor.low <= 1 <= factor.high else 0.65,
            "says": f"{name}, {factor.case}: q = {number(factor.q)} ({interval(factor.low, factor.high, 2)}), "
            f"{factor.verdict}",
        }
        for place, factor in enumerate(shown)
    ]
