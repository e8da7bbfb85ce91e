"""Names beside the ends of lines, moved apart where they would overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from convergebench.report.charts.plot import Plot
from convergebench.report.wording import middle


class LineEnd(NamedTuple):
    """The end of a line and its name."""

    name: str
    x: float
    y: float


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


def end_labels(plot: Plot, ends: Sequence[LineEnd], *, gap: float = 22, room: int) -> None:
    """Direct labels to the right of the frame, each tied to its line by a short leader in the line's colour.

    A click on a label hides its line. While the chart is zoomed there are no leaders.
    """
    places = spread([end.y for end in ends], gap=15.0, low=0.0, high=plot.high - 4)
    x = plot.wide + gap
    tied = list(zip(ends, places, strict=True))
    leaders = [{"name": end.name, "x": end.x + 2, "y": end.y, "x2": x - 14, "y2": y} for end, y in tied]
    keys = [{"name": end.name, "x": x - 14, "y": y, "x2": x - 4, "y2": y} for end, y in tied]
    names = [
        {"name": end.name, "x": x, "y": y + 4, "text": middle(end.name, room), "says": f"{end.name}: click to hide"}
        for end, y in tied
    ]
    plot.add("rule", leaders, px="xy", coloured=True, opacity=0.45, unless="zoomed", strokeDash=[1, 0])
    plot.add("rule", keys, px="xy", coloured=True, dimmed=0.35, strokeWidth=3)
    plot.add("text", names, px="xy", align="left", fontSize=13, dimmed=0.35, named="label", cursor="pointer")
