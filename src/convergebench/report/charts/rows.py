"""Charts of rows: one name per row, marks on one axis that all rows share, a value at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from convergebench.report.charts.base import NARROW
from convergebench.report.charts.plot import CLIP, Axis, Datum, Plot, PlotMargins, Spec, disc
from convergebench.report.wording import middle


@dataclass
class RowPlot(Plot):
    """Rows from the top down. `ys` are their middles in pixels; on a phone the name is above the row."""

    ys: Sequence[float] = ()
    narrow: bool = False

    def names(self, names: Sequence[str], *, room: int = 28, bold: Sequence[bool] = (), lift: float = 12) -> None:
        """The names of the rows."""
        strong = list(bold) or [False] * len(names)
        for weight, chosen in ((600, True), (400, False)):
            shown = [
                {"x": 0, "y": y - lift, "text": middle(name, 40)}
                if self.narrow
                else {"x": -16, "y": y + 4, "text": middle(name, room)}
                for name, y, heavy in zip(names, self.ys, strong, strict=True)
                if heavy is chosen
            ]
            align = "left" if self.narrow else "right"
            self.add("text", shown, px="xy", align=align, fontSize=13, fontWeight=weight, named="halo")

    def values(self, texts: Sequence[str], *, bold: bool = True, gap: float = 10) -> None:
        """The value of each row, at its end."""
        shown = [
            {"x": self.wide + gap, "y": y + 4, "text": text} for text, y in zip(texts, self.ys, strict=True) if text
        ]
        self.add("text", shown, px="xy", align="left", fontSize=13, fontWeight=600 if bold else 400)

    def notes(self, notes: Sequence[str]) -> None:
        """Words in rows that have no mark."""
        shown = [{"x": 4, "y": y + 4, "text": text} for text, y in zip(notes, self.ys, strict=True) if text]
        self.add("text", shown, px="xy", align="left", fontSize=11, color="var(--soft)", named="halo")

    def whiskers(self, rows: list[Datum], **how: Any) -> None:
        """From `low` to `high` at `y` pixels."""
        if any(row.get("low") is not None for row in rows):
            how = {"strokeWidth": 2.5, "opacity": 0.55, "strokeCap": "round", "clip": CLIP, **how}
            self.add("rule", rows, x="low", x2="high", px="y", **how)

    def dots(self, rows: list[Datum], radius: float = 5, **how: Any) -> None:
        """A dot at `x`, `y` pixels."""
        self.add("point", rows, px="y", size=disc(radius), clip=CLIP, **how)

    def line_at(self, value: float, *, above: float = 0, **how: Any) -> None:
        """A vertical line through all rows."""
        how = {"color": "var(--ink)", "strokeDash": [3, 3], **how}
        self.add("rule", [{"x": value}], y=-above, y2=self.high, clip=CLIP, **how)

    def ways(self, zero: float, left: str, right: str) -> None:
        """What lies on either side of a line, above it, where there is room."""
        at = self.across()(zero)
        style: Spec = {"px": "xy", "fontSize": 11, "color": "var(--soft)", "unless": "zoomed"}
        if left and at > 52:
            self.add("text", [{"x": at - 6, "y": -10, "text": left}], align="right", **style)
        if right and self.wide - at > 52:
            self.add("text", [{"x": at + 6, "y": -10, "text": right}], align="left", **style)

    def hover(self, says: Sequence[str], height: float) -> None:
        """A tooltip for each row as a whole."""
        rows = [
            {"y": y - height / 2, "y2": y + height / 2, "says": text}
            for text, y in zip(says, self.ys, strict=True)
            if text
        ]
        self.add("rect", rows, px="y", live=True, x=0, x2=self.wide, fillOpacity=0)


def row_plot(
    width: int,
    count: int,
    axis: Axis,
    *,
    row: tuple[float, float],
    left: float,
    right: tuple[float, float],
    top: float = 8,
    bottom: float = 44,
    middle_of: tuple[float, float] = (0.5, 0.68),
    **how: Any,
) -> RowPlot:
    """An empty plot of `count` rows; pairs are (on a page, on a phone)."""
    narrow = width <= NARROW
    high = row[narrow]
    ys = [high * (place + middle_of[narrow]) for place in range(count)]
    margins = PlotMargins(8 if narrow else left, right[narrow], top, bottom)
    return RowPlot(width, top + high * max(1, count) + bottom, margins, axis, ys=ys, narrow=narrow, **how)
