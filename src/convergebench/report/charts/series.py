"""Points of a line with their band, the input of every line chart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from convergebench.report.palette import Style


@dataclass(frozen=True, slots=True)
class Point:
    """One round (or step) of a line; `value` None is a gap."""

    x: int
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class LineSeries:
    """One editor's line."""

    name: str
    style: Style
    points: tuple[Point, ...]

    @property
    def last(self) -> Point | None:
        """The last point that can be drawn."""
        return next((point for point in reversed(self.points) if drawable(point.value)), None)


def drawable(value: float | None) -> TypeGuard[float]:
    """Neither missing nor infinite."""
    return value is not None and math.isfinite(value)


def endless_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Editors whose every value from round 1 on is infinite (a perfect PSNR), which a line cannot show."""
    later: dict[str, list[float | None]] = {}
    for row in rows:
        if row["round"] > 0 and row["mean"] is not None:
            later.setdefault(row["editor"], []).append(row["mean"])
    return [editor for editor, values in later.items() if all(value == math.inf for value in values)]


def thin(points: Sequence[Point], most: int = 40) -> tuple[Point, ...]:
    """At most about `most` of the points, both ends kept, so that long chains do not make heavy pages."""
    if len(points) <= most:
        return tuple(points)
    step = math.ceil(len(points) / most)
    kept = list(points[::step])
    return (*kept, points[-1]) if kept[-1] is not points[-1] else tuple(kept)
