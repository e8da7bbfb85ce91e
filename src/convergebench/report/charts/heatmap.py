"""Heatmaps: rows down, columns across, blue where something is lost or fails. Pages show them as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from convergebench.report.charts.base import Chart

PALE, WHITE, BLUE = "#f5f1e8", "#ffffff", "#2b6cb0"


class HeatCell(NamedTuple):
    """The text of a cell, and its depth of blue: 0 to 1, None where it is unknown."""

    text: str
    shade: float | None


@dataclass(frozen=True, slots=True)
class HeatChart(Chart):
    """A table of shades. `ground` is the colour of shade 0; `ends` names both ends of the scale, if it is shown."""

    title: str
    columns: Sequence[str]
    rows: Sequence[str]
    cells: Sequence[Sequence[HeatCell]]
    ground: str = WHITE
    ends: tuple[str, str] | None = None
    dense: bool = False
    """Many small cells; unknown ones are hatched."""
