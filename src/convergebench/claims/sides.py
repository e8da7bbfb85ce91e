"""The value of one side of a comparison, and whether a relation between two sides holds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from convergebench.claims.claim import Direction, Relation
from convergebench.claims.operand import Operand, Scalar
from convergebench.claims.tables import ClaimTable, ClaimTables, MissingValue, Row, number, same_value

EPSILON = 1e-9
"""Relative differences below this are rounding errors."""


_REDUCE: dict[str, Callable[[Sequence[float]], float]] = {
    **{"sum": math.fsum, "mean": statistics.fmean, "median": statistics.median, "smallest": min, "largest": max}
}


@dataclass(frozen=True)
class TestContext:
    """Defaults for what a side leaves out: table of the test, current column and row (checked on reading)."""

    tables: ClaimTables
    table: str | None = None
    column: str | None = None
    row: Row | None = None

    def named(self, table: str | None) -> ClaimTable:
        """The table of a side, or else of the test."""
        return self.tables.table(str(table or self.table))


@dataclass(frozen=True)
class SideValue:
    """A value with its label and, if the table has one, its interval."""

    value: Scalar
    label: str = ""
    interval: tuple[float, float] | None = None
    stated: bool = False
    """Given in the claim, not read from a table."""

    @property
    def number(self) -> float:
        """The value as a number; `MissingValue` if it is none."""
        return number(self.value, self.label or "a side")


def side_value(side: Operand, context: TestContext) -> SideValue:
    """The value of a side; `MissingValue` if a table, row or value does not exist."""
    found = _value_of(side, context)
    return replace(found, label=side.label) if side.label else found


def _value_of(side: Operand, context: TestContext) -> SideValue:
    if side.value is not None:
        exact = None if isinstance(side.value, str) else (float(side.value), float(side.value))
        return SideValue(side.value, "", exact, stated=True)
    if side.parts:
        parts = [side_value(part, context).number for part in side.parts]
        return SideValue(_finite(lambda: _calculated(side, parts), side.form), "worked out")
    if side.of is not None:
        return _aggregated(side, context)
    table, row, name = _row(side, context)
    column = str(side.words or side.column or context.column)
    table.require_columns([column])
    cell = row[column]
    if cell is None:
        raise MissingValue(f"{table.name} has no value of '{column}'{f' for {name}' if name else ''}")
    if side.words is not None:
        return SideValue(len(str(cell).split()), name)
    if not isinstance(cell, bool | int | float | str):
        raise MissingValue(f"'{column}' in {table.name} is neither a number nor a word")
    return SideValue(cell, name or column, interval_of(table, row, column))


def _row(side: Operand, context: TestContext) -> tuple[ClaimTable, Row, str]:
    if side.row is not None:
        table = context.named(side.table)
        return table, table.one(side.row), row_label(side.row)
    return context.named(None), context.row or {}, ""


def _aggregated(side: Operand, context: TestContext) -> SideValue:
    table = context.named(side.table)
    if side.of == "count":
        if not table.rows:
            raise MissingValue(f"{table.name} is empty")
        return SideValue(len(table.matching(side.rows or {})), "rows")
    column = str(side.column or context.column)
    table.require_columns([column])
    cells = [row[column] for row in table.select(side.rows or {})]
    if any(cell is None for cell in cells):
        raise MissingValue(
            f"{table.name} has no value of '{column}' in {sum(cell is None for cell in cells)} of its rows"
        )
    if side.of == "distinct":
        return SideValue(len(set(cells)), f"different {column}")
    numbers = [number(cell, f"'{column}' in {table.name}") for cell in cells]
    return SideValue(_finite(lambda: _REDUCE[str(side.of)](numbers), f"the {side.of}"), f"{side.of} of {len(numbers)}")


def _finite(work: Callable[[], float], what: str) -> float:
    """The result of `work`; `MissingValue` for NaN (infinity minus infinity) and for overflow."""
    try:
        found = float(work())
    except (OverflowError, ValueError) as error:
        raise MissingValue(f"{what} of these numbers has no value") from error
    if math.isnan(found):
        raise MissingValue(f"{what} of these numbers has no value")
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
        raise MissingValue("a ratio to zero has no value")
    return parts[0] / parts[1]


def row_label(row: Mapping[str, object]) -> str:
    """A label for a row: words as they are, numbers with the name of their column."""
    return " ".join(value if isinstance(value, str) else f"{column} {value}" for column, value in row.items())


def interval_of(table: ClaimTable, row: Row, column: str) -> tuple[float, float] | None:
    """`x_low` and `x_high` of a column `x`, `x_median` or `x_mean`, else `low` and `high`, where the table has them."""
    stem = column.removesuffix("_median").removesuffix("_mean")
    for low, high in ((f"{column}_low", f"{column}_high"), (f"{stem}_low", f"{stem}_high"), ("low", "high")):
        if low in table.columns and high in table.columns:
            ends = row[low], row[high]
            return None if None in ends else (number(ends[0], low), number(ends[1], high))
    return None


def related(
    left: SideValue,
    relation: Relation,
    right: Sequence[SideValue],
    *,
    tolerance: float = 0.0,
    beyond: bool = False,
    direction: Direction = "higher",
) -> bool:
    """Whether the relation between the left and the right side holds."""
    if relation == "better":
        relation = ">" if direction == "higher" else "<"
    if relation == "between":
        return related(left, ">=", right[:1], tolerance=tolerance) and related(
            left, "<=", right[1:], tolerance=tolerance
        )
    (other,) = right
    if relation in ("=", "!=") and not all(_numeric(one.value) for one in (left, other)):
        return same_value(left.value, other.value) == (relation == "=")
    one, two = left.number, other.number
    if beyond:
        one, two = _facing_ends(left, other, relation)
    if math.isinf(one) or math.isinf(two):
        return {">": one > two, ">=": one >= two, "<": one < two, "<=": one <= two}.get(
            relation, (one == two) == (relation == "=")
        )
    slack, gap = EPSILON * max(1.0, abs(one), abs(two)), one - two
    return {
        ">": gap > tolerance + slack,
        "<": -gap > tolerance + slack,
        ">=": gap >= -tolerance - slack,
        "<=": -gap >= -tolerance - slack,
        "=": abs(gap) <= tolerance + slack,
        "!=": abs(gap) > tolerance + slack,
    }[relation]


def _facing_ends(left: SideValue, right: SideValue, relation: Relation) -> tuple[float, float]:
    """The ends of the two intervals that face each other."""
    for one in (left, right):
        if one.interval is None:
            raise MissingValue(f"{one.label or 'a side'} has no interval, but the claim needs one")
    assert left.interval is not None
    assert right.interval is not None
    return (left.interval[0], right.interval[1]) if relation == ">" else (left.interval[1], right.interval[0])


def _numeric(value: Scalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
