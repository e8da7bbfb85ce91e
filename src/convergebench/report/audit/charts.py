"""Charts of the audit: shares of failures with intervals, and the effect of content beside that of damage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.report.charts.base import NARROW, PageChart
from convergebench.report.charts.plot import CLIP, Axis, Datum, Spec
from convergebench.report.charts.rows import row_plot
from convergebench.report.charts.scale import span
from convergebench.report.charts.series import drawable
from convergebench.report.wording import interval, number

BLUE = "var(--fail)"


@dataclass(frozen=True, slots=True)
class FailureShare:
    """One metric: the share of pictures on which it fails, on the mean of runs and in any single run."""

    name: str
    share: float | None
    low: float | None
    high: float | None
    any_run: float | None
    counted: str
    """`3 / 12`."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ShareChart(PageChart):
    """Rows in the given order; the axis always covers 0 to 100 %, so that charts compare."""

    shares: Sequence[FailureShare]
    label: str

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        marks = (0, 50, 100) if width <= NARROW else (0, 20, 40, 60, 80, 100)
        axis = Axis(0, 100, "% of pictures that fail (← better)", 5, marks)
        plot = row_plot(width, len(self.shares), axis, row=(26, 38), left=190, right=(84, 62))
        plot.names([one.name for one in self.shares], room=25)
        rows: list[Datum] = [
            {
                **{"row": one.name, "x": _percent(one.share), "low": _percent(one.low), "high": _percent(one.high)},
                **{"any": _percent(one.any_run), "counted": one.counted, "y": y, "says": _share_says(one)},
            }
            for one, y in zip(self.shares, plot.ys, strict=True)
            if one.share is not None
        ]
        plot.whiskers(rows, color=BLUE)
        rings = [{"x": row["any"], "y": row["y"]} for row in rows if row["any"] not in (None, row["x"])]
        plot.dots(rings, 4, fill="var(--paper)", stroke=BLUE, strokeWidth=2)
        plot.dots(rows, fill=BLUE)
        plot.values(["" if one.share is None else one.counted for one in self.shares], gap=12)
        plot.notes([(one.note or "nothing known") if one.share is None else "" for one in self.shares])
        plot.hover(["" if one.share is None else _share_says(one) for one in self.shares], 24)
        titles = {"row": "metric", "x": "% that fail", "low": "low", "high": "high", "any": "% in any run"}
        columns = [*titles.items(), ("counted", "fail / known")]
        plot.meta["table"] = {"data": plot.named(rows), "columns": [list(pair) for pair in columns]}
        return plot.spec()


def _share_says(one: FailureShare) -> str:
    ends = interval(_percent(one.low), _percent(one.high), 0)
    return f"{one.name}: {one.counted} pictures fail" + (f", {ends} %" if ends else ", no interval")


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


@dataclass(frozen=True, slots=True)
class MetricConfound:
    """One metric: the spread over untouched images, the change by damage, and the ratio of the two."""

    name: str
    spread: float | None
    gap: float | None
    ratio: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ConfoundChart(PageChart):
    """An open dot for the spread over content, a full one for the change by damage, a line between, and the ratio."""

    rows: Sequence[MetricConfound]
    label: str

    def spec(self, width: int) -> Spec:
        """The chart at one width."""
        narrow = width <= NARROW
        known = [v for one in self.rows for v in (one.spread, abs(one.gap) if one.gap is not None else None)]
        axis = Axis(0, span(known, include=(0,))[1], "points of the 0–100 scale", 4 if narrow else 7)
        plot = row_plot(width, len(self.rows), axis, row=(26, 38), left=190, right=(150, 62), top=22)
        plot.names([one.name for one in self.rows], room=25)
        rows: list[Datum] = [
            {
                **{"row": one.name, "spread": _finite(one.spread), "y": y},
                **{"x": _finite(None if one.gap is None else abs(one.gap)), "ratio": _finite(one.ratio)},
                **{"low": one.low, "high": one.high, "says": _confound_says(one)},
                **{"fill": BLUE if one.gap is not None and one.gap >= 0 else "var(--ink)", "stroke": "transparent"},
            }
            for one, y in zip(self.rows, plot.ys, strict=True)
        ]
        both = [row for row in rows if row["spread"] is not None and row["x"] is not None]
        plot.add("rule", both, px="y", x="spread", x2="x", color="var(--rule)", strokeWidth=2, clip=CLIP)
        rings = [{"x": row["spread"], "y": row["y"], "says": row["says"]} for row in rows if row["spread"] is not None]
        plot.dots(rings, 4.5, fill="var(--paper)", stroke="var(--soft)", strokeWidth=2)
        plot.dots([row for row in rows if row["x"] is not None])
        bands = ["" if narrow else interval(one.low, one.high, 1) for one in self.rows]
        shown = [
            number(one.ratio, 2) + (f"  ({band})" if band else "") for one, band in zip(self.rows, bands, strict=True)
        ]
        plot.values(shown, gap=12)
        head = [{"x": plot.wide + 12, "y": -10, "text": "ratio"}]
        plot.add("text", head, px="xy", align="left", fontSize=13, color="var(--soft)")
        plot.hover([_confound_says(one) for one in self.rows], 24)
        titles = {"row": "metric", "spread": "spread over images", "x": "change by damage", "ratio": "ratio"}
        columns = [*titles.items(), ("low", "low"), ("high", "high")]
        plot.meta["table"] = {"data": plot.named(rows), "columns": [list(pair) for pair in columns]}
        return plot.spec()


def _finite(value: float | None) -> float | None:
    return value if drawable(value) else None


def _confound_says(one: MetricConfound) -> str:
    way = "rises by" if one.gap is not None and one.gap >= 0 else "falls by"
    return (
        f"{one.name}: untouched images spread by {number(one.spread, 2)}; damage: the score {way} "
        f"{number(None if one.gap is None else abs(one.gap), 2)}; ratio {number(one.ratio, 2)} "
        f"{interval(one.low, one.high, 1)}"
    ).rstrip()
