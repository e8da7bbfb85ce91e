"""What a chart's specification draws, for tests."""

from __future__ import annotations

import re
from typing import Any

from convergebench.report.charts.base import WIDE, PageChart
from convergebench.report.charts.plot import rows_of


def marks(chart: PageChart, kind: str, width: int = WIDE, *, named: str = "") -> list[dict[str, Any]]:
    """The rows of all layers with this mark, the frame's own left out."""
    spec = chart.spec(width)
    return [
        row
        for layer in spec["layer"][1:]
        if layer["mark"]["type"] == kind and layer.get("name", "").startswith(named)
        for row in rows_of(spec["datasets"][layer["data"]["name"]])
    ]


def axis(chart: PageChart, letter: str, width: int = WIDE) -> tuple[float, float]:
    """Where an axis begins and ends."""
    known = {one["name"]: one["value"] for one in chart.spec(width)["params"]}
    return known[f"{letter}0"], known[f"{letter}1"]


def texts(svg: str) -> list[str]:
    """Every text of a drawn chart."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)
