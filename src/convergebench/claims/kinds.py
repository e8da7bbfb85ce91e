"""Evaluates every kind of test: one function for each, from the test and its tables to an outcome.

All parts are evaluated, so that a mistake in the last part is found even if the first part has decided the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from convergebench.claims.claim import (
    BestTest,
    CombinedTest,
    CompareTest,
    Direction,
    EveryTest,
    Members,
    RankTest,
    SetTest,
    TrendTest,
)
from convergebench.claims.operand import Operand, Scalar
from convergebench.claims.outcome import ClaimEvidence, TestOutcome, all_of, any_of, at_least, none_of, shown
from convergebench.claims.sides import EPSILON, SideValue, TestContext, interval_of, related, row_label, side_value
from convergebench.claims.tables import ClaimTable, ClaimTables, MissingValue, Row, number

Found = list[ClaimEvidence]


def check_test(test: Any, tables: ClaimTables) -> TestOutcome:
    """The outcome of one test."""
    try:
        return CHECKS[test.kind](test, tables)
    except MissingValue as error:
        return TestOutcome(None, (ClaimEvidence("", missing=str(error)),))


def _best(test: BestTest, tables: ClaimTables) -> TestOutcome:
    table = tables.table(test.table)
    table.require_columns([*test.columns, *([test.by] if test.by else [])])
    rows = table.select(test.rows)
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[test.by] if test.by else None, []).append(row)
    answers: list[bool | None] = []
    evidence: Found = []
    for group, members in groups.items():
        own = table.one(test.row, members)
        found = [_best_in_column(test, table, members, own, column, group) for column in test.columns]
        answers.append(at_least([one.holds for one in found], test.enough or len(test.columns)))
        evidence += found
    return TestOutcome(all_of(answers), tuple(evidence))


def _best_in_column(
    test: BestTest, table: ClaimTable, rows: Sequence[Row], own: Row, column: str, group: object
) -> ClaimEvidence:
    """Compare the row with the best of the others in one column."""
    direction = test.columns[column]
    if test.kind == "worst":
        direction = "lower" if direction == "higher" else "higher"
    sign = 1 if direction == "higher" else -1
    what = f"{row_label({test.by: group})}, {column}" if test.by else column
    label = [name for name in test.row if name != test.by]
    others = [row for row in rows if row is not own]
    if not others:
        return ClaimEvidence(what, missing=f"{table.name} has nothing to compare {_named(own, label)} with")
    if own[column] is None:
        return ClaimEvidence(what, missing=f"{table.name} has no value of '{column}' for {_named(own, label)}")
    one = _value(table, own, column, label)
    known = [row for row in others if row[column] is not None]
    ranked = sorted((_value(table, row, column, label) for row in known), key=lambda other: -sign * other.number)
    beaten = [_beats(test, one, other, direction) for other in ranked]
    if len(known) < len(others) and False not in beaten:
        unknown = next(row for row in others if row[column] is None)
        return ClaimEvidence(what, missing=f"{table.name} has no value of '{column}' for {_named(unknown, label)}")
    holds = all_of(beaten)
    ordered = (one, ranked[0]) if holds else (ranked[0], one)
    return ClaimEvidence(what, tuple((value.label, value.value) for value in ordered), holds)


def _beats(test: BestTest, one: SideValue, other: SideValue, direction: Direction) -> bool:
    if test.ties and not test.beyond_interval:
        return related(one, ">=" if direction == "higher" else "<=", [other])
    return related(one, "better", [other], direction=direction, beyond=test.beyond_interval)


def _value(table: ClaimTable, row: Row, column: str, label: Sequence[str]) -> SideValue:
    value = number(row[column], f"'{column}' in {table.name}")
    return SideValue(value, _named(row, label), interval_of(table, row, column))


def _named(row: Row, columns: Sequence[str]) -> str:
    return row_label({column: row[column] for column in columns})


def _compare(test: CompareTest, tables: ClaimTables) -> TestOutcome:
    columns: Mapping[str, Direction] = test.columns or {}
    found = [
        _compared(test, TestContext(tables, test.table, column), column or "", columns.get(column or "", "higher"))
        for column in (columns or (None,))
    ]
    return TestOutcome(all_of(one.holds for one in found), tuple(found))


def _compared(
    test: CompareTest | EveryTest, context: TestContext, what: str, direction: Direction = "higher"
) -> ClaimEvidence:
    """The values of both sides, and whether the relation holds."""
    try:
        left, right = side_value(test.left, context), [side_value(side, context) for side in test.right]
        holds = related(
            left,
            test.relation,
            right,
            tolerance=test.tolerance,
            beyond=test.beyond_interval,
            direction=direction,
        )
        if test.beyond_interval and not holds and isinstance(test, CompareTest):
            agrees = related(left, test.relation, right, tolerance=test.tolerance, direction=direction)
            if agrees:  # an estimate that agrees does not refute the claim
                return ClaimEvidence(
                    what,
                    missing=f"{_with_interval(left)} {test.relation} {_with_interval(right[0])}, but the intervals "
                    f"overlap",
                )
    except MissingValue as error:
        return ClaimEvidence(what, missing=f"{error} ({what})" if context.row is not None and what else str(error))
    claimed = ""
    values = [left, *right]
    if all(one.stated for one in right):
        values, claimed = [left], f"{test.relation} {' and '.join(shown(one.value) for one in right)}"
        if test.tolerance:
            claimed += f" ± {shown(test.tolerance)}"
    return ClaimEvidence(what, tuple((one.label, one.value) for one in values), holds, claimed)


def _with_interval(one: SideValue) -> str:
    text = f"{one.label} {shown(one.value)}".strip()
    if one.interval is None or one.stated:
        return text
    low, high = one.interval
    return f"{text} ({low:.3g} to {high:.3g})"


def _every(test: EveryTest, tables: ClaimTables) -> TestOutcome:
    table = tables.table(test.table)
    rows = table.select(test.rows)
    for side in (test.left, *test.right):
        table.require_columns(_own_columns(side))
    label = _label_columns(table, rows, _own_columns(test.left))
    found = [_compared(test, TestContext(tables, test.table, row=row), _named(row, label)) for row in rows]
    answer = {"every": all_of, "some": any_of, "none": none_of}[test.kind](one.holds for one in found)
    return TestOutcome(answer, tuple(found if test.kind != "none" else [_negated(one) for one in found]))


def _negated(evidence: ClaimEvidence) -> ClaimEvidence:
    """The evidence for the opposite claim."""
    negated = None if evidence.holds is None else not evidence.holds
    claimed = f"not {evidence.claimed}" if evidence.claimed else ""
    return ClaimEvidence(evidence.what, evidence.values, negated, claimed, evidence.missing)


def _own_columns(side: Operand) -> list[str]:
    """The columns of the row itself that a side uses."""
    if side.table is None and side.row is None and side.of is None and (side.column or side.words):
        return [side.words or side.column or ""]
    return [column for part in side.parts for column in _own_columns(part)]


def _label_columns(table: ClaimTable, rows: Sequence[Row], compared: Sequence[str]) -> list[str]:
    """Text columns, then integer columns, until their values identify each row."""
    label: list[str] = []
    for kind in (str, int):
        for column in table.columns:
            if label and len({_named(row, label) for row in rows}) == len(rows):
                return label
            differs = len(rows) == 1 or len({row[column] for row in rows}) > 1
            if differs and column not in compared and type(rows[0][column]) is kind:
                label.append(column)
    return label


def _rank(test: RankTest, tables: ClaimTables) -> TestOutcome:
    table = tables.table(test.table)
    table.require_columns(test.columns)
    rows = table.select(test.rows)
    own = table.one(test.row, rows)
    ranks = [0.0] * len(rows)
    for column, direction in test.columns.items():
        sign = 1 if direction == "higher" else -1
        values = [sign * number(row[column], f"'{column}' in {table.name}") for row in rows]
        for place, value in enumerate(values):
            better, same = sum(other > value for other in values), sum(other == value for other in values)
            ranks[place] += (better + (same + 1) / 2) / len(test.columns)
    own_rank = ranks[[row is own for row in rows].index(True)]
    place = 1 + sum(rank < own_rank - EPSILON for rank in ranks)
    first = rows[ranks.index(min(ranks))]
    label = list(test.row)
    what = f"mean rank over {', '.join(test.columns) if len(test.columns) < 4 else f'{len(test.columns)} columns'}"
    compared: list[tuple[str, Scalar]] = [(_named(own, label), round(own_rank, 2))]
    if first is not own:
        compared.insert(0, (_named(first, label), round(min(ranks), 2)))
    holds = related(SideValue(place), test.relation, [SideValue(test.place)])
    return TestOutcome(holds, (ClaimEvidence(f"{what}, place {place} of {len(rows)}", tuple(compared), holds),))


def _sets(test: SetTest, tables: ClaimTables) -> TestOutcome:
    left, right = _members(test.left, tables), _members(test.right, tables)
    too_many = sorted(left - right) if test.relation in ("equals", "within") else []
    too_few = sorted(right - left) if test.relation in ("equals", "contains") else []
    holds = not too_many and not too_few
    names = [side.label or side.table or "claimed" for side in (test.left, test.right)]
    values: list[tuple[str, Scalar]] = [(names[0], len(left)), (names[1], len(right))]
    for name, rest in zip(names, (too_many, too_few), strict=True):
        if rest:
            values.append((f"only in {name}:", ", ".join(rest)))
    if holds and len(left) <= 4:
        values = [("", ", ".join(sorted(left)))]
    return TestOutcome(holds, (ClaimEvidence("members", tuple(values), holds),))


def _members(members: Members, tables: ClaimTables) -> set[str]:
    if members.table is None:
        return set(members.values or ())
    table = tables.table(members.table)
    table.require_columns(members.columns)
    rows = table.select(members.rows)
    if any(row[column] is None for row in rows for column in members.columns):
        raise MissingValue(f"{table.name} has a row without a value of {' or '.join(members.columns)}")
    return {" ".join(str(row[column]) for column in members.columns) for row in rows} - set(members.without)


def _trend(test: TrendTest, tables: ClaimTables) -> TestOutcome:
    table = tables.table(test.table)
    table.require_columns([test.column, test.along, *test.by])
    series: dict[str, list[Row]] = {}
    for row in table.select(test.rows):
        series.setdefault(_named(row, test.by), []).append(row)
    found = [_series(test, table, name, rows) for name, rows in series.items()]
    return TestOutcome(all_of(one.holds for one in found), tuple(found))


def _series(test: TrendTest, table: ClaimTable, name: str, rows: Sequence[Row]) -> ClaimEvidence:
    what = f"{name}, {test.column}" if name else test.column
    try:
        points = sorted(
            (
                number(row[test.along], f"'{test.along}'"),
                number(row[test.column], f"'{test.column}'{f' of {name}' if name else ''}"),
            )
            for row in rows
        )
    except MissingValue as error:
        return ClaimEvidence(what, missing=f"{table.name}: {error}")
    places = [place for place, _ in points]
    if len(set(places)) < max(2, len(places)):
        why = "has only one point" if len(places) < 2 else f"has two rows for one '{test.along}'; name more in 'by'"
        return ClaimEvidence(what, missing=f"{table.name}: {what} {why}")
    sign = 1 if test.relation in ("rises", "never falls") else -1
    strict = not test.relation.startswith("never")
    # two infinities are equal; their difference would be NaN
    steps = [
        ((before, after), 0.0 if after[1] == before[1] else sign * (after[1] - before[1]))
        for before, after in pairwise(points)
    ]
    broken = [pair for pair, gain in steps if (gain + test.tolerance < 0 or (strict and gain + test.tolerance == 0))]
    pair = broken[0] if broken else (points[0], points[-1])
    values = tuple((f"at {test.along} {shown(place)}", value) for place, value in pair)
    return ClaimEvidence(what, values, not broken)


def _combined(test: CombinedTest, tables: ClaimTables) -> TestOutcome:
    parts = [check_test(part, tables) for part in test.tests]
    answer = {"all": all_of, "any": any_of, "neither": none_of}[test.kind](part.holds for part in parts)
    evidence = [one for part in parts for one in part.evidence]
    if test.kind == "neither":
        evidence = [_negated(one) for one in evidence]
    return TestOutcome(answer, tuple(evidence))


CHECKS: dict[str, Callable[[Any, ClaimTables], TestOutcome]] = {
    **{"best": _best, "worst": _best, "compare": _compare, "every": _every, "some": _every, "none": _every},
    **{"rank": _rank, "set": _sets, "trend": _trend, "all": _combined, "any": _combined, "neither": _combined},
}
