"""Success rates: a dot with its interval per row, a ring for a second rate, a diamond for a published one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import PageChart
from convergebench.report.charts.plot import CLIP, Axis, Datum, Spec, disc
from convergebench.report.charts.rows import row_plot
from convergebench.report.palette import Style
from convergebench.report.wording import percent, percents

MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class RateRow:
    """One row; a `head` is a group of the rows below it. Without an interval its dot is faint."""

    name: str
    n: int
    share: float | None
    low: float | None = None
    high: float | None = None
    second: float | None = None
    published: float | None = None
    head: bool = False


@dataclass(frozen=True, slots=True)
class RateChart(PageChart):
    """Rates from 0 to 100 %, all rows on one axis."""

    rows: Sequence[RateRow]
    style: Style
    title: str
    label: str
    second: str = "first attempt"
    """What the second rate is."""
    ring: float = 4
    """Radius of its ring; more than a dot's where the two rates are often equal."""

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        axis = Axis(0, 1, self.title, 5, MARKS, format=".0%")
        plot = row_plot(
            width, len(self.rows), axis, row=(24, 34), left=345, right=(110, 84), top=6, middle_of=(0.5, 0.72)
        )
        colour = self.style.variable
        rows: list[Datum] = [
            {
                **{"row": one.name, "n": one.n, "x": one.share, "low": one.low, "high": one.high, "y": y},
                **{"second": one.second, "published": one.published, "size": disc(6 if one.head else 4.5)},
                **{"says": _says(one, self.second), "opacity": 0.45 if one.low is None else 1},
            }
            for one, y in zip(self.rows, plot.ys, strict=True)
        ]
        heads = [one.head for one in self.rows]
        plot.names([one.name for one in self.rows], room=46, bold=heads, lift=11)
        plot.whiskers([{**row, "opacity": 0.55} for row in rows], color=colour)
        ring: Spec = {"fill": "var(--paper)", "stroke": colour, "strokeWidth": 1.6}
        seconds = [
            {"x": row["second"], "y": row["y"], "says": row["says"]} for row in rows if row["second"] is not None
        ]
        plot.dots(seconds, self.ring, **ring)
        plot.add("point", rows, px="y", color=colour, clip=CLIP)
        diamond: Spec = {"shape": "diamond", "fill": "transparent", "stroke": "var(--ink)", "strokeWidth": 1.6}
        known = [
            {"x": row["published"], "y": row["y"], "says": row["says"]} for row in rows if row["published"] is not None
        ]
        plot.add("point", known, px="y", size=110, clip=CLIP, **diamond)
        shown = ["" if one.share is None else f"{percent(one.share)} of {one.n}" for one in self.rows]
        plot.values([text if head else "" for text, head in zip(shown, heads, strict=True)], gap=12)
        plot.values(["" if head else text for text, head in zip(shown, heads, strict=True)], gap=12, bold=False)
        plot.notes(["no verdict" if one.share is None else "" for one in self.rows])
        plot.hover([row["says"] for row in rows], 20)
        titles = {"row": "row", "n": "n", "x": "share", "low": "low", "high": "high", "second": self.second}
        columns = [*titles.items(), ("published", "published")]
        plot.meta["table"] = {"data": plot.named(rows), "columns": [list(pair) for pair in columns]}
        return plot.spec()


def _says(one: RateRow, second: str) -> str:
    parts = [f"{one.name}: {percent(one.share)} of {one.n}"]
    parts += [f"interval {percents(one.low, one.high)}"] if one.low is not None else []
    parts += [f"{second} {percent(one.second)}"] if one.second is not None else []
    parts += [f"paper {100 * one.published:.1f} %"] if one.published is not None else []
    return "; ".join(parts)
