"""Contraction factors: one dot per chain, left of 1 the steps shrink, right of 1 they grow; pale dots may be either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from convergebench.report.charts.scale import Scale, horizontal_axis, span, ticks
from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, line, text
from convergebench.report.palette import Style
from convergebench.report.wording import interval, middle, number

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

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        row, top, left, right = 34, 26, (8 if narrow else 210), 16
        bottom = top + row * max(1, len(self.rows))
        known = [factor.q for _, _, factors in self.rows for factor in factors]
        low, high = span(known, include=(1.0,), pad=0.06, least=0.2)
        x = Scale(max(0.0, low), high, left, width - right)
        marks = ticks(x.low, x.high, 4 if narrow else 8)
        parts: list[object] = [
            *(line(x(mark), top, x(mark), bottom, class_="grid") for mark in marks),
            line(x(1), top - 8, x(1), bottom, class_="unit"),
            text("← steps shrink", x(1) - 8, top - 12, class_="level-name", text_anchor="end"),
            text("steps grow →", x(1) + 8, top - 12, class_="level-name") if x.end - x(1) > 74 else None,
            *horizontal_axis(x, marks, bottom, "contraction factor q of a chain"),
        ]
        for place, (name, style, factors) in enumerate(self.rows):
            parts.append(_strip(name, style, factors, x, top + row * (place + 0.5), narrow))
        return drawing(parts, width=width, height=bottom + 44, label=self.label)


def _strip(name: str, style: Style, factors: Sequence[Factor], x: Scale, y: float, narrow: bool) -> Markup:
    shown = sorted(factors)[:: max(1, -(-len(factors) // MOST_DOTS))]
    dots: list[object] = []
    for place, factor in enumerate(shown):
        ends = interval(factor.low, factor.high, 2)
        says = element("title", f"{name}, {factor.case}: q = {number(factor.q)} ({ends}), {factor.verdict}")
        faint = {"opacity": PALE} if factor.low <= 1 <= factor.high else {}
        dot = element("circle", says, cx=x(factor.q), cy=y + (place % 3 - 1) * 4.0, r=3.5, **style.dot, **faint)
        dots.append(element("a", dot, href=factor.link))
    if not shown:
        dots.append(text("no chain moves enough to say", x.start + 4, y + 4, class_="level-name"))
    at, anchor = ((x.start, y - 10), "start") if narrow else ((x.start - 16, y + 4), "end")
    return group([text(middle(name, 28), *at, class_="label", text_anchor=anchor), *dots], class_="factors")
