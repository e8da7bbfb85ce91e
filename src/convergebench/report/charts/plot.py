"""Charts as Vega-Lite specifications: a frame of fixed size with its axes, and layers of marks over rows of data.

All room around the frame is given in pixels and every label is placed by our own code, so the layout never depends on
the fonts of the machine. The parameters `hidden`, `zoomed` and `x0` … `y1` are what the page's script changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from convergebench.report.charts.scale import Scale
from convergebench.report.charts.series import drawable
from convergebench.report.palette import Style

Spec = dict[str, Any]
"""A specification, or a part of one."""
Datum = dict[str, Any]
"""One row of a layer's data."""

CONFIG: Spec = {
    "font": "system-ui, sans-serif",
    "background": "transparent",
    "aria": False,
    "view": {"stroke": None},
    "rule": {"strokeCap": "butt"},
    "text": {"color": "var(--ink)", "fontSize": 12, "baseline": "alphabetic"},
    "point": {"filled": True, "opacity": 1},
    "axis": {
        **{"labelColor": "var(--soft)", "labelFontSize": 12, "labelOverlap": False, "labelLimit": 0},
        **{"labelFlush": False, "labelBound": False, "tickColor": "var(--faint)", "domainColor": "var(--faint)"},
        **{"titleColor": "var(--soft)", "titleFontSize": 13, "titleFontWeight": "normal", "titleAlign": "left"},
        **{"titleAngle": 0, "titleAnchor": "start", "titleBaseline": "alphabetic", "gridColor": "var(--grid)"},
        **{"titleLimit": 0},
    },
    "axisX": {"tickSize": 4, "labelPadding": 4, "titleX": 0, "titleY": 36},
    "axisY": {"tickSize": 0, "labelPadding": 8, "domain": False, "titleY": -20},
}
"""What all charts share: colours are variables of the style sheet, so that they follow light, dark and print."""

OWN: Mapping[str, Mapping[str, str]] = {
    "rule": {"colour": "color"},
    "rect": {"fill": "fill", "fillOpacity": "fillOpacity"},
    "text": {"text": "text"},
    "point": {"fill": "fill", "stroke": "stroke", "strokeWidth": "strokeWidth", "size": "size"}
    | {"shape": "shape", "link": "href"},
}
"""Mark → columns of its data whose values a channel takes as they are."""
HIDDEN = "indexof(hidden, datum.name) >= 0"
CLIP: Spec = {"expr": "zoomed"}
"""Marks are cut off at the frame only while the chart is zoomed: before that all of them are inside."""
DIGITS = 6
"""Significant digits of numbers in the page."""


class PlotMargins(NamedTuple):
    """Pixels around the frame."""

    left: float
    right: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`. `marks`: its ticks while it is not zoomed, else about `count` round numbers."""

    low: float
    high: float
    title: str = ""
    count: int = 5
    marks: Sequence[float] = ()
    whole: bool = False
    """Only whole numbers."""
    grid: bool = True
    reverse: bool = False
    """The greater value on the left or at the bottom."""
    format: str = ""
    """How d3 formats its numbers."""
    labels: bool = True
    """Ticks with numbers; without them only the line."""
    line: bool = True

    def encoding(self, letter: str, left: float) -> Spec:
        """The scale and the axis, for the frame's own layer."""
        low, high = f"{letter}0", f"{letter}1"
        axis: Spec = {"title": self.title or None, "grid": self.grid, "tickCount": self.count + len(self.marks)}
        if letter == "y":
            axis["titleX"] = -left
        if self.whole:
            axis |= {"tickMinStep": 1, "format": "d"}
        if self.format:
            axis["format"] = self.format
        if not self.labels:
            axis |= {"labels": False, "ticks": False}
        if not self.line:
            axis |= {"domain": False}
        if self.marks:
            between = f"sequence(ceil({low}), {high} + 0.001, max(1, ceil(({high} - {low}) / {self.count})))"
            step = f"({high} - {low}) / {self.count}"
            other = between if self.whole else f"sequence({low}, {high}, {step})"
            axis["values"] = {"expr": f"zoomed ? {other} : {[plain(mark) for mark in self.marks]}"}
        scale: Spec = {"domainMin": {"expr": low}, "domainMax": {"expr": high}, "nice": False, "zero": False}
        if self.reverse:
            scale["reverse"] = True
        return {"datum": plain(self.low), "type": "quantitative", "scale": scale, "axis": axis}


@dataclass
class Plot:
    """A chart in the making: a frame of `width` × `height` pixels with everything around it.

    `series` fixes the colour and dashes of each name; rows with a `name` can be hidden by it.
    """

    width: float
    height: float
    margins: PlotMargins
    x: Axis
    y: Axis | None = None
    series: Sequence[tuple[str, Style]] = ()
    meta: Spec = field(default_factory=dict)
    layers: list[Spec] = field(default_factory=list)
    _data: list[Sequence[Datum]] = field(default_factory=list)

    @property
    def wide(self) -> float:
        """Pixels across the frame."""
        return self.width - self.margins.left - self.margins.right

    @property
    def high(self) -> float:
        """Pixels from the top of the frame to its bottom."""
        return self.height - self.margins.top - self.margins.bottom

    def across(self) -> Scale:
        """From values to pixels of the frame."""
        ends = (self.wide, 0.0) if self.x.reverse else (0.0, self.wide)
        return Scale(self.x.low, self.x.high, *ends)

    def up(self) -> Scale:
        """From values to pixels of the frame, from its top."""
        axis = self.y or Axis(0, 1)
        return Scale(axis.low, axis.high, *((0.0, self.high) if axis.reverse else (self.high, 0.0)))

    def add(
        self, mark: str, rows: Iterable[Datum], *, px: str = "", coloured: bool = False, live: bool = False, **how: Any
    ) -> None:
        """A layer of marks. `px` names the channels in pixels of the frame (`y`, `xy`); the others are values.

        `x`, `y`, `x2` and `y2` in `how` rename their columns; `coloured` takes colour and dashes from the series;
        `live` layers are not drawn in the static chart; `dimmed` is the opacity of rows that are hidden, or for which
        the expression `unless` is true; `named` is a class of the layer. The rest belongs to the mark.
        """
        data = rows if isinstance(rows, list) else list(rows)
        if not data:
            return
        keys = {key for row in data for key in row}
        encoding: Spec = {}
        for channel in ("x", "y", "x2", "y2"):
            column = how.pop(channel, channel)
            if not isinstance(column, str):
                encoding[channel] = {"value": column}
            elif column in keys:
                encoding[channel] = {"field": column}
                if not channel.endswith("2"):
                    encoding[channel]["type"] = "quantitative"
                    encoding[channel] |= {"scale": None, "axis": None} if channel in px else {}
        encoding |= {
            channel: {"field": column, "type": "nominal", "scale": None}
            for column, channel in OWN.get(mark, {}).items()
            if column in keys
        }
        if "says" in keys:
            encoding["tooltip"] = {"field": "says", "type": "nominal"}
        if coloured:
            encoding |= self._colours(mark)
        dimmed, opacity, unless = how.pop("dimmed", 0), how.pop("opacity", 1), how.pop("unless", "")
        rest: Spec = {"field": "opacity", "type": "quantitative", "scale": None} if "opacity" in keys else {}
        tests = [test for test in (HIDDEN if "name" in keys else "", unless) if test]
        if tests:
            hidden = {"test": " || ".join(tests), "value": dimmed}
            encoding["opacity"] = {"condition": hidden, **(rest or {"value": opacity})}
        elif rest or opacity != 1:
            encoding["opacity"] = rest or {"value": opacity}
        name = how.pop("named", "")
        layer: Spec = {"data": {"name": self.named(data)}, "mark": {"type": mark, **how}, "encoding": encoding}
        if name or live:
            layer["name"] = f"{'live_' if live else ''}{name or mark}_{len(self.layers)}"
        self.layers.append(layer)

    def live_columns(self, columns: list[Datum], hover: Spec) -> None:
        """Invisible columns from `x` to `x2`, and a line at `at` in the one under the pointer."""
        self.add("rect", columns, live=True, y=0, y2=self.high, fillOpacity=0, tooltip={"content": "data"})
        self.layers[-1]["params"] = [hover]
        self.add("rule", columns, live=True, x="at", x2="none", y=0, y2=self.high, color="var(--faint)", tooltip=None)
        self.layers[-1]["encoding"]["opacity"] = {
            "condition": {"param": hover["name"], "empty": False, "value": 1},
            "value": 0,
        }

    def named(self, rows: Sequence[Datum]) -> str:
        """The name of a data set; the same list is stored once."""
        place = next((place for place, known in enumerate(self._data) if known is rows), len(self._data))
        if place == len(self._data):
            self._data.append(rows)
        return f"d{place}"

    def _colours(self, mark: str) -> Spec:
        names = [name for name, _ in self.series]
        channel = {"field": "name", "type": "nominal", "legend": None}
        found: Spec = {
            "color": {**channel, "scale": {"domain": names, "range": [style.variable for _, style in self.series]}}
        }
        if mark in ("line", "rule") and any(style.dash for _, style in self.series):
            dashes = [dashes_of(style) or [1, 0] for _, style in self.series]
            found["strokeDash"] = {**channel, "scale": {"domain": names, "range": dashes}}
        return found

    def spec(self) -> Spec:
        """The whole specification; its data sets are tables of columns and rows, see `whole`."""
        left = self.margins.left
        frame = {"x": self.x.encoding("x", left)} | ({"y": self.y.encoding("y", left)} if self.y else {})
        first = {"data": {"values": [{}]}, "mark": {"type": "point", "size": 0, "opacity": 0}, "encoding": frame}
        ends = {"x0": self.x.low, "x1": self.x.high} | ({"y0": self.y.low, "y1": self.y.high} if self.y else {})
        return {
            "width": plain(self.wide),
            "height": plain(self.high),
            "padding": {side: plain(room) for side, room in self.margins._asdict().items()},
            "autosize": "none",
            "params": [
                {"name": "hidden", "value": []},
                {"name": "zoomed", "value": False},
                *({"name": name, "value": plain(value)} for name, value in ends.items()),
            ],
            "layer": [first, *self.layers],
            "datasets": {f"d{place}": table(rows) for place, rows in enumerate(self._data)},
            "usermeta": {"series": [[name, style.swatch] for name, style in self.series], **self.meta},
        }


def download(plot: Plot, rows: Sequence[Datum], *, x: str, y: str = "", name: str = "name") -> Spec:
    """Which rows the page offers as CSV, and what their columns are called."""
    keys = {key for row in rows for key in row if row[key] is not None}
    titles = {"group": "group", "name": name, "x": x, "y": y, "low": "low", "high": "high", "n": "n", "more": "more"}
    return {"table": {"data": plot.named(rows), "columns": [[k, t] for k, t in titles.items() if k in keys and t]}}


def plain(value: Any) -> Any:
    """A number of few digits; None for what JSON does not have."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if not drawable(value):
        return None
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short


def table(rows: Sequence[Datum]) -> Spec:
    """Rows without repeating their keys; texts that occur often are numbers that count into `words`."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    packed = [[plain(row.get(key)) for key in columns] for row in rows]
    words: dict[str, list[str]] = {}
    for place, key in enumerate(columns):
        texts = [row[place] for row in packed]
        if all(isinstance(text, str) for text in texts) and 2 * len(set(texts)) <= len(texts):
            words[key] = list(dict.fromkeys(texts))
            for row in packed:
                row[place] = words[key].index(row[place])
    return {"columns": columns, "rows": packed} | ({"words": words} if words else {})


def rows_of(packed: Spec) -> list[Datum]:
    """The rows of a `table`; a missing value has no key."""
    words = packed.get("words", {})
    return [
        {
            key: words[key][value] if key in words else value
            for key, value in zip(packed["columns"], row, strict=True)
            if value is not None
        }
        for row in packed["rows"]
    ]


def dashes_of(style: Style) -> list[float]:
    """The dash pattern of a line; empty for a full line."""
    return [plain(float(part)) for part in style.dash.split()]


def disc(radius: float) -> float:
    """The size of a circle with this radius: Vega takes the area of the square around it."""
    return round(4 * radius * radius, 1)


def mark_of(style: Style, *, hollow: bool = False, ring: float = 2.5) -> Spec:
    """Fill and stroke of an editor's dot: full in the first pass through the colours, a ring after that."""
    if hollow or style.dash:
        return {"fill": "var(--paper)", "stroke": style.variable, "strokeWidth": ring}
    return {"fill": style.variable, "stroke": "transparent"}
