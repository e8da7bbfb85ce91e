"""A funnel: one bar per stage, as long as what gets there; the last may be divided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from convergebench.report.charts.svg import NARROW, PageChart, drawing, element, group, text
from convergebench.report.palette import Style
from convergebench.report.wording import percent

SHADES = (1.0, 0.62, 0.36, 0.22)
"""Opacity of the first, second, … part of a divided bar."""


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """One bar; `parts` are (name, n) that add up to `n`."""

    name: str
    n: int
    share: float | None
    note: str = ""
    parts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class FunnelChart(PageChart):
    """Stages from the widest to the narrowest; the pale ground of a bar is the first stage."""

    stages: Sequence[FunnelStage]
    style: Style
    label: str

    def svg(self, width: int) -> Markup:
        """The chart at one width."""
        narrow = width <= NARROW
        row, bar = (46, 18) if narrow else (36, 22)
        left, right = (0, 92) if narrow else (190, 130)
        most = max((stage.n for stage in self.stages), default=0) or 1
        room = width - left - right
        parts = []
        for place, stage in enumerate(self.stages):
            y = 4 + row * place + (18 if narrow else 0)
            parts.append(self._bar(stage, left, y, room, bar, most))
            name_at = {"x": 0, "y": y - 5} if narrow else {"x": left - 14, "y": y + 15, "text_anchor": "end"}
            parts.append(element("text", stage.name, class_="label", **name_at))
            share = "" if stage.share is None or place == 0 else f" ({percent(stage.share)})"
            parts.append(text(f"{stage.n}{share}", left + room + 12, y + bar - 6, class_="value"))
        return drawing(parts, width=width, height=8 + row * len(self.stages), label=self.label)

    def _bar(self, stage: FunnelStage, left: float, y: float, room: float, height: float, most: int) -> Markup:
        drawn: list[object] = [element("rect", x=left, y=y, width=float(room), height=height, rx=3, fill="var(--grid)")]
        at = float(left)
        for place, (name, n) in enumerate(stage.parts or (("", stage.n),)):
            wide = room * n / most
            colour = {"fill": self.style.variable, "fill_opacity": SHADES[min(place, len(SHADES) - 1)]}
            if wide > 0:
                drawn.append(element("rect", x=at, y=y, width=wide, height=height, rx=3, **colour))
            if name and wide > 7 * len(f"{name}: {n}") + 10:
                tone = "var(--paper)" if place == 0 else "var(--ink)"
                inside = {"style": f"fill:{tone}"}
                drawn.append(text(f"{name}: {n}", at + 6, y + height - 6, **inside))
            at += wide
        says = "; ".join([f"{stage.name}: {stage.n}", *(f"{name}: {n}" for name, n in stage.parts)])
        return group([*drawn, element("title", f"{says}. {stage.note}".removesuffix(". "))])
