"""Flow charts of pages as SVG, drawn when the site is built: a browser need not fetch a drawing program."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from itertools import pairwise

_CHART = re.compile(r"^```mermaid\nflowchart TD\n(?P<arrows>.*?)\n```$", re.M | re.S)
_ARROW = re.compile(r"^\s*(?P<tail>[\w-]+) --> (?P<head>[\w-]+)\s*$")
_WIDE, _HIGH, _ROW, _GAP, _PASS = 104, 30, 76, 14, 4

Arrow = tuple[str, str]
Node = tuple[str, ...]
"""A box by its name, or where an arrow passes through a row: tail, head, row."""


def drawn(text: str) -> str:
    """The page with every flow chart as a drawing."""
    return _CHART.sub(lambda match: svg(arrows(match["arrows"])), text)


def arrows(text: str) -> list[Arrow]:
    """The arrows of a flow chart; any other line is an error, so that nothing is left out silently."""
    found = []
    for line in text.splitlines():
        match = _ARROW.match(line)
        if match is None:
            raise ValueError(f"a drawing has arrows `a --> b` only, not {line.strip()!r}")
        found.append((match["tail"], match["head"]))
    return found


def svg(found: Sequence[Arrow]) -> str:
    """Boxes in rows, arrows downwards, with as few crossings as sorting by neighbours gives."""
    depth = depths(found)
    ways = [_way(arrow, depth) for arrow in found]
    rows = _ordered(_rows(depth, ways), ways)
    x = _places(rows, ways)
    lines = [_line(way, x, depth[way[0][0]]) for way in ways]
    for name, row in depth.items():
        left, top = x[(name,)] - _WIDE / 2, row * _ROW
        lines.append(f'<rect x="{left:.0f}" y="{top}" width="{_WIDE}" height="{_HIGH}" rx="4"/>')
        lines.append(f'<text x="{x[(name,)]:.0f}" y="{top + _HIGH // 2}">{escape(name)}</text>')
    width, height = max(x.values()) + _WIDE / 2 + 4, (len(rows) - 1) * _ROW + _HIGH + 4
    tip = '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    return (
        f'<div class="drawing" tabindex="0"><svg viewBox="-2 -2 {width:.0f} {height}" width="{width:.0f}" role="img" '
        f'aria-label="{len(found)} arrows between {len(depth)} boxes"><defs>{tip}<path d="M0 0 8 4 0 8z"/></marker>'
        f"</defs>{''.join(lines)}</svg></div>"
    )


def depths(found: Sequence[Arrow]) -> dict[str, int]:
    """The row of every box: one under the lowest of those that point to it."""
    depth = {name: 0 for arrow in found for name in arrow}
    for _ in depth:
        for tail, head in found:
            depth[head] = max(depth[head], depth[tail] + 1)
    if any(depth[head] <= depth[tail] for tail, head in found):
        raise ValueError("arrows that run in a circle cannot be drawn in rows")
    return depth


def _way(arrow: Arrow, depth: Mapping[str, int]) -> list[Node]:
    passed = [(*arrow, str(row)) for row in range(depth[arrow[0]] + 1, depth[arrow[1]])]
    return [(arrow[0],), *passed, (arrow[1],)]


def _rows(depth: Mapping[str, int], ways: Sequence[list[Node]]) -> list[list[Node]]:
    rows: list[list[Node]] = [[] for _ in range(max(depth.values()) + 1)]
    for name, row in sorted(depth.items()):
        rows[row].append((name,))
    for way in ways:
        for node in way[1:-1]:
            rows[int(node[-1])].append(node)
    return rows


def _ordered(rows: list[list[Node]], ways: Sequence[list[Node]]) -> list[list[Node]]:
    """Rows sorted by where their neighbours above stand, then by those below, several times."""
    beside = _neighbours(ways)
    for sweep in range(12):
        order = rows if sweep % 2 == 0 else rows[::-1]
        for fixed, moved in pairwise(order):
            place = {node: number / len(fixed) for number, node in enumerate(fixed)}
            moved.sort(key=partial(_beside, place, beside))
    return rows


def _beside(place: Mapping[Node, float], beside: Mapping[Node, list[Node]], node: Node) -> float:
    return _mean([place[one] for one in beside[node] if one in place], 0.5)


def _neighbours(ways: Sequence[list[Node]]) -> dict[Node, list[Node]]:
    beside: dict[Node, list[Node]] = {}
    for way in ways:
        for upper, lower in pairwise(way):
            beside.setdefault(upper, []).append(lower)
            beside.setdefault(lower, []).append(upper)
    return beside


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _places(rows: Sequence[list[Node]], ways: Sequence[list[Node]]) -> dict[Node, float]:
    """The middle of every node: side by side at first, then drawn towards its neighbours without overlap."""
    beside = _neighbours(ways)
    x: dict[Node, float] = {}
    for row in rows:
        for node in row:
            x[node] = 0.0
    for _ in range(30):
        for row in rows:
            wanted = [_mean([x[one] for one in beside[node]], 0.0) for node in row]
            x |= dict(zip(row, _apart(row, wanted), strict=True))
    least = min(x[node] - _half(node) for row in rows for node in row)
    return {node: at - least for node, at in x.items()}


def _half(node: Node) -> float:
    return _WIDE / 2 if len(node) == 1 else _PASS


def _apart(row: Sequence[Node], wanted: Sequence[float]) -> list[float]:
    """Places as near to the wanted ones as a single pass from each side gives, far enough from each other."""
    right = list(wanted)
    for number in range(1, len(row)):
        least = right[number - 1] + _half(row[number - 1]) + _half(row[number]) + _GAP
        right[number] = max(right[number], least)
    left = list(wanted)
    for number in range(len(row) - 2, -1, -1):
        most = left[number + 1] - _half(row[number + 1]) - _half(row[number]) - _GAP
        left[number] = min(left[number], most)
    return [(one + other) / 2 for one, other in zip(right, left, strict=True)]


def _line(way: Sequence[Node], x: Mapping[Node, float], top: int) -> str:
    y = top * _ROW + _HIGH
    path = f"M{x[way[0]]:.0f} {y}"
    for upper, lower in pairwise(way):
        below, middle = y + _ROW - _HIGH, y + (_ROW - _HIGH) // 2
        path += f"C{x[upper]:.0f} {middle} {x[lower]:.0f} {middle} {x[lower]:.0f} {below}"
        if lower is not way[-1]:
            path += f"v{_HIGH}"
        y = below + _HIGH
    return f'<path d="{path}" marker-end="url(#tip)"/>'
