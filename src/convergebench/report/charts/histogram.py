"""A histogram whose bars are divided into what was accepted and what was not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.scale import Scale, tick_text, ticks
from convergebench.report.charts.svg import PageChart, drawing, element, group, line, text
from convergebench.report.palette import Style

LEFT, RIGHT, TOP, BOTTOM, WIDTH = 38, 8, 14, 130, 330


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

    def __html__(self) -> str:
        return self.svg(WIDTH)

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        most = max((one.n for one in self.bins), default=0) or 1
        named = any(one.name for one in self.bins)
        start = 0.0 if named or not self.bins else self.bins[0].low
        end = float(len(self.bins)) if named or not self.bins else self.bins[-1].high
        x, y = Scale(start, end, LEFT, width - RIGHT), Scale(0, most, BOTTOM, TOP)
        marks = [mark for mark in ticks(0, most, 3) if mark == int(mark)]
        parts: list[object] = []
        for mark in marks:
            parts.append(line(LEFT, y(mark), width - RIGHT, y(mark), class_="grid"))
            parts.append(text(tick_text(mark, marks), LEFT - 6, y(mark) + 4, class_="tick", text_anchor="end"))
        for place, one in enumerate(self.bins):
            low, high = (place + 0.2, place + 0.8) if named else (one.low, one.high)
            parts.append(self._bar(one, x(low) + 0.5, x(high) - 0.5, y))
            if one.name:
                parts.append(text(one.name, x(place + 0.5), BOTTOM + 16, class_="tick", text_anchor="middle"))
        parts.append(line(LEFT, BOTTOM, width - RIGHT, BOTTOM, class_="axis"))
        if not named:
            for mark in (0.0, 0.25, 0.5, 0.75, 1.0):
                parts.append(text(f"{mark:g}", x(mark), BOTTOM + 16, class_="tick", text_anchor="middle"))
        if self.rule is not None:
            at = x(self.rule[1])
            parts.append(line(at, TOP - 8, at, BOTTOM, class_="unit"))
            parts.append(text(self.rule[0], at - 5, TOP - 3, class_="level-name", text_anchor="end"))
        return drawing(parts, width=width, height=BOTTOM + 24, label=self.label)

    def _bar(self, one: HistogramBin, left: float, right: float, y: Scale) -> Markup:
        wide = max(1.0, right - left)
        whole, good = BOTTOM - y(one.n), BOTTOM - y(one.accepted)
        colour = self.style.variable
        drawn = [
            element("rect", x=left, y=BOTTOM - whole, width=wide, height=whole, fill=colour, fill_opacity=0.3),
            element("rect", x=left, y=BOTTOM - good, width=wide, height=good, fill=colour),
        ]
        where = one.name or f"{one.low:g}–{one.high:g}"
        return group([*drawn, element("title", f"{where}: {one.n}, of which accepted {one.accepted}")])
