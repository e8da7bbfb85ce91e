"""What one side of a comparison is worth, and whether a relation between two sides holds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from convergebench.claims.claim import Direction, Relation
from convergebench.claims.operand import Operand, Scalar
from convergebench.claims.tables import Missing, Row, Table, Tables, alike, number

DUST = 1e-9
"""Differences below this share of the numbers come from adding them up, not from the table."""


_GATHERED: dict[str, Callable[[Sequence[float]], float]] = {
    **{"sum": math.fsum, "mean": statistics.fmean, "median": statistics.median, "smallest": min, "largest": max}
}


@dataclass(frozen=True)
class Around:
    """What a side may leave unsaid: the table of the test, its column of the moment, the row that is looked at.

    That nothing is left unsaid by both was seen to when the claim was read.
    """

    tables: Tables
    table: str | None = None
    column: str | None = None
    row: Row | None = None

    def named(self, table: str | None) -> Table:
        """The table that a side names, or the test's."""
        return self.tables.table(str(table or self.table))


@dataclass(frozen=True)
class Worth:
    """A value with its interval, where the table has one, and what to call it."""

    value: Scalar
    label: str = ""
    interval: tuple[float, float] | None = None
    stated: bool = False
    """Of the claim itself, not of a table."""

    @property
    def number(self) -> float:
        """As a number, or Missing."""
        return number(self.value, self.label or "a side")


def worth(side: Operand, around: Around) -> Worth:
    """The value of a side; Missing where a table, row or value is not there."""
    found = _worth(side, around)
    return replace(found, label=side.label) if side.label else found


def _worth(side: Operand, around: Around) -> Worth:
    if side.value is not None:
        exact = None if isinstance(side.value, str) else (float(side.value), float(side.value))
        return Worth(side.value, "", exact, stated=True)
    if side.parts:
        parts = [worth(part, around).number for part in side.parts]
        return Worth(_told(lambda: _calculated(side, parts), side.form), "worked out")
    if side.of is not None:
        return _gathered(side, around)
    table, row, name = _row(side, around)
    column = str(side.words or side.column or around.column)
    table.must_have([column])
    cell = row[column]
    if cell is None:
        raise Missing(f"{table.name} has no value of '{column}'{f' for {name}' if name else ''}")
    if side.words is not None:
        return Worth(len(str(cell).split()), name)
    if not isinstance(cell, bool | int | float | str):
        raise Missing(f"'{column}' in {table.name} is neither a number nor a word")
    return Worth(cell, name or column, interval_of(table, row, column))


def _row(side: Operand, around: Around) -> tuple[Table, Row, str]:
    if side.row is not None:
        table = around.named(side.table)
        return table, table.one(side.row), called(side.row)
    return around.named(None), around.row or {}, ""


def _gathered(side: Operand, around: Around) -> Worth:
    table = around.named(side.table)
    if side.of == "count":
        if not table.rows:
            raise Missing(f"{table.name} is empty")
        return Worth(len(table.meeting(side.rows or {})), "rows")
    column = str(side.column or around.column)
    table.must_have([column])
    cells = [row[column] for row in table.choose(side.rows or {})]
    if any(cell is None for cell in cells):
        raise Missing(f"{table.name} has no value of '{column}' in {sum(cell is None for cell in cells)} of its rows")
    if side.of == "distinct":
        return Worth(len(set(cells)), f"different {column}")
    numbers = [number(cell, f"'{column}' in {table.name}") for cell in cells]
    return Worth(_told(lambda: _GATHERED[str(side.of)](numbers), f"the {side.of}"), f"{side.of} of {len(numbers)}")


def _told(work: Callable[[], float], what: str) -> float:
    """Infinity less infinity is no number, nor is a sum beyond the largest one."""
    try:
        found = float(work())
    except (OverflowError, ValueError) as error:
        raise Missing(f"{what} of these numbers has no value") from error
    if math.isnan(found):
        raise Missing(f"{what} of these numbers has no value")
    return found


def _calculated(side: Operand, parts: Sequence[float]) -> float:
    if side.sum is not None:
        return math.fsum(parts)
    if side.product is not None:
        return math.prod(parts)
    if side.difference is not None:
        return parts[0] - parts[1]
    if side.size_of is not None:
        return abs(parts[0])
    if parts[1] == 0:
        raise Missing("a ratio to nothing has no value")
    return parts[0] / parts[1]


def called(row: Mapping[str, object]) -> str:
    """A row by what stands in it: words as they are, numbers with the name of their column."""
    return " ".join(value if isinstance(value, str) else f"{column} {value}" for column, value in row.items())


def interval_of(table: Table, row: Row, column: str) -> tuple[float, float] | None:
    """`x_low` and `x_high` of a column `x`, `x_median` or `x_mean`, else `low` and `high`, where the table has them."""
    stem = column.removesuffix("_median").removesuffix("_mean")
    for low, high in ((f"{column}_low", f"{column}_high"), (f"{stem}_low", f"{stem}_high"), ("low", "high")):
        if low in table.columns and high in table.columns:
            ends = row[low], row[high]
            return None if None in ends else (number(ends[0], low), number(ends[1], high))
    return None


def related(
    left: Worth,
    relation: Relation,
    right: Sequence[Worth],
    *,
    tolerance: float = 0.0,
    beyond: bool = False,
    direction: Direction = "higher",
) -> bool:
    """Whether the left side stands so to the right one."""
    if relation == "better":
        relation = ">" if direction == "higher" else "<"
    if relation == "between":
        return related(left, ">=", right[:1], tolerance=tolerance) and related(
            left, "<=", right[1:], tolerance=tolerance
        )
    (other,) = right
    if relation in ("=", "!=") and not all(_numeric(one.value) for one in (left, other)):
        return alike(left.value, other.value) == (relation == "=")
    one, two = left.number, other.number
    if beyond:
        one, two = _apart(left, other, relation)
    if math.isinf(one) or math.isinf(two):
        return {">": one > two, ">=": one >= two, "<": one < two, "<=": one <= two}.get(
            relation, (one == two) == (relation == "=")
        )
    dust, gap = DUST * max(1.0, abs(one), abs(two)), one - two
    return {
        ">": gap > tolerance + dust,
        "<": -gap > tolerance + dust,
        ">=": gap >= -tolerance - dust,
        "<=": -gap >= -tolerance - dust,
        "=": abs(gap) <= tolerance + dust,
        "!=": abs(gap) > tolerance + dust,
    }[relation]


def _apart(left: Worth, right: Worth, relation: Relation) -> tuple[float, float]:
    """The ends that face each other."""
    for one in (left, right):
        if one.interval is None:
            raise Missing(f"{one.label or 'a side'} has no interval, and the claim asks for one")
    assert left.interval is not None
    assert right.interval is not None
    return (left.interval[0], right.interval[1]) if relation == ">" else (left.interval[1], right.interval[0])


def _numeric(value: Scalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
