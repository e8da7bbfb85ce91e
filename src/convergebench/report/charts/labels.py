"""Names beside the ends of lines, moved apart where they would overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from convergebench.report.charts.svg import element, group, line, text
from convergebench.report.palette import Style
from convergebench.report.wording import middle


class LineEnd(NamedTuple):
    """The end of a line and its name."""

    name: str
    x: float
    y: float
    style: Style


def spread(targets: Sequence[float], *, gap: float, low: float, high: float) -> list[float]:
    """Places at least `gap` apart inside [low, high], in order, each as near to its target as possible.

    Without room for all of them the gap shrinks.
    """
    if not targets:
        return []
    gap = min(gap, (high - low) / max(1, len(targets) - 1)) if len(targets) > 1 else gap
    order = sorted(range(len(targets)), key=lambda place: (targets[place], place))
    blocks: list[list[float]] = []  # each: [sum of target tops, number of labels]; neighbours that touch are merged
    for place in order:
        blocks.append([targets[place], 1])
        while len(blocks) > 1 and _top(blocks[-2], gap, low, high) + blocks[-2][1] * gap > _top(
            blocks[-1], gap, low, high
        ):
            total, size = blocks.pop()
            before = blocks[-1]
            before[0] += total - size * before[1] * gap
            before[1] += size
    placed = [0.0] * len(targets)
    walk = iter(order)
    for block in blocks:
        top = _top(block, gap, low, high)
        for step in range(int(block[1])):
            placed[next(walk)] = top + step * gap
    return placed


def _top(block: Sequence[float], gap: float, low: float, high: float) -> float:
    """The first place of a block of touching labels centred on its mean target, kept inside the limits."""
    total, size = block
    return max(low, min(total / size, high - (size - 1) * gap))


def end_labels(ends: Sequence[LineEnd], *, x: float, low: float, high: float, room: int) -> Markup:
    """Direct labels at `x`, each tied to its line by a short leader in the line's colour."""
    places = spread([end.y for end in ends], gap=15.0, low=low, high=high)
    drawn = []
    for end, y in zip(ends, places, strict=True):
        leader = [
            line(end.x + 2, end.y, x - 14, y, stroke=end.style.variable, class_="leader"),
            line(x - 14, y, x - 4, y, stroke=end.style.variable, stroke_dasharray=end.style.dash or None, class_="key"),
        ]
        name = text(middle(end.name, room), x, y + 4, class_="label")
        drawn.append(group([*leader, name, element("title", end.name)], class_="end"))
    return group(drawn)
