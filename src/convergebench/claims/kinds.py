"""Every kind of test, carried out: a function for each, from the test and its tables to an outcome.

Nothing is cut short: a slip in the last part of a test is found even when the first part has decided it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from convergebench.claims.claim import (
    Best,
    Combined,
    Compare,
    Direction,
    Every,
    Members,
    Rank,
    Sets,
    Trend,
)
from convergebench.claims.operand import Operand, Scalar
from convergebench.claims.outcome import Evidence, Outcome, all_of, any_of, enough_of, none_of, shown
from convergebench.claims.sides import DUST, Around, Worth, called, interval_of, related, worth
from convergebench.claims.tables import Missing, Row, Table, Tables, number

Found = list[Evidence]


def check_test(test: Any, tables: Tables) -> Outcome:
    """The outcome of one test."""
    try:
        return CHECKS[test.kind](test, tables)
    except Missing as error:
        return Outcome(None, (Evidence("", missing=str(error)),))


def _best(test: Best, tables: Tables) -> Outcome:
    table = tables.table(test.table)
    table.must_have([*test.columns, *([test.by] if test.by else [])])
    rows = table.choose(test.rows)
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[test.by] if test.by else None, []).append(row)
    answers: list[bool | None] = []
    evidence: Found = []
    for group, members in groups.items():
        own = table.one(test.row, members)
        found = [_leads(test, table, members, own, column, group) for column in test.columns]
        answers.append(enough_of([one.holds for one in found], test.enough or len(test.columns)))
        evidence += found
    return Outcome(all_of(answers), tuple(evidence))


def _leads(test: Best, table: Table, rows: Sequence[Row], own: Row, column: str, group: object) -> Evidence:
    """The row against the strongest of the others in one column."""
    direction = test.columns[column]
    if test.kind == "worst":
        direction = "lower" if direction == "higher" else "higher"
    sign = 1 if direction == "higher" else -1
    what = f"{called({test.by: group})}, {column}" if test.by else column
    label = [name for name in test.row if name != test.by]
    others = [row for row in rows if row is not own]
    if not others:
        return Evidence(what, missing=f"{table.name} has nothing to compare {_named(own, label)} with")
    if own[column] is None:
        return Evidence(what, missing=f"{table.name} has no value of '{column}' for {_named(own, label)}")
    one = _value(table, own, column, label)
    known = [row for row in others if row[column] is not None]
    rivals = sorted((_value(table, row, column, label) for row in known), key=lambda rival: -sign * rival.number)
    held = [_beats(test, one, rival, direction) for rival in rivals]
    if len(known) < len(others) and False not in held:
        unknown = next(row for row in others if row[column] is None)
        return Evidence(what, missing=f"{table.name} has no value of '{column}' for {_named(unknown, label)}")
    holds = all_of(held)
    ordered = (one, rivals[0]) if holds else (rivals[0], one)
    return Evidence(what, tuple((worth.label, worth.value) for worth in ordered), holds)


def _beats(test: Best, one: Worth, rival: Worth, direction: Direction) -> bool:
    if test.ties and not test.beyond_interval:
        return related(one, ">=" if direction == "higher" else "<=", [rival])
    return related(one, "better", [rival], direction=direction, beyond=test.beyond_interval)


def _value(table: Table, row: Row, column: str, label: Sequence[str]) -> Worth:
    value = number(row[column], f"'{column}' in {table.name}")
    return Worth(value, _named(row, label), interval_of(table, row, column))


def _named(row: Row, columns: Sequence[str]) -> str:
    return called({column: row[column] for column in columns})


def _compare(test: Compare, tables: Tables) -> Outcome:
    columns: Mapping[str, Direction] = test.columns or {}
    found = [
        _compared(test, Around(tables, test.table, column), column or "", columns.get(column or "", "higher"))
        for column in (columns or (None,))
    ]
    return Outcome(all_of(one.holds for one in found), tuple(found))


def _compared(test: Compare | Every, around: Around, what: str, direction: Direction = "higher") -> Evidence:
    """Both sides and whether they stand as claimed."""
    try:
        left, right = worth(test.left, around), [worth(side, around) for side in test.right]
        holds = related(
            left,
            test.relation,
            right,
            tolerance=test.tolerance,
            beyond=test.beyond_interval,
            direction=direction,
        )
        if test.beyond_interval and not holds and isinstance(test, Compare):
            agrees = related(left, test.relation, right, tolerance=test.tolerance, direction=direction)
            if agrees:  # the estimate says so and its interval does not: that is no refutation
                return Evidence(
                    what,
                    missing=f"{_with_interval(left)} {test.relation} {_with_interval(right[0])}, but "
                    "the interval reaches across",
                )
    except Missing as error:
        return Evidence(what, missing=f"{error} ({what})" if around.row is not None and what else str(error))
    claimed = ""
    values = [left, *right]
    if all(one.stated for one in right):
        values, claimed = [left], f"{test.relation} {' and '.join(shown(one.value) for one in right)}"
        if test.tolerance:
            claimed += f" ± {shown(test.tolerance)}"
    return Evidence(what, tuple((one.label, one.value) for one in values), holds, claimed)


def _with_interval(one: Worth) -> str:
    told = f"{one.label} {shown(one.value)}".strip()
    if one.interval is None or one.stated:
        return told
    low, high = one.interval
    return f"{told} ({low:.3g} to {high:.3g})"


def _every(test: Every, tables: Tables) -> Outcome:
    table = tables.table(test.table)
    rows = table.choose(test.rows)
    for side in (test.left, *test.right):
        table.must_have(_own_columns(side))
    label = _label_columns(table, rows, _own_columns(test.left))
    found = [_compared(test, Around(tables, test.table, row=row), _named(row, label)) for row in rows]
    answer = {"every": all_of, "some": any_of, "none": none_of}[test.kind](one.holds for one in found)
    return Outcome(answer, tuple(found if test.kind != "none" else [_turned(one) for one in found]))


def _turned(evidence: Evidence) -> Evidence:
    """Where none is to be so, the ones that are so speak against the claim."""
    turned = None if evidence.holds is None else not evidence.holds
    claimed = f"not {evidence.claimed}" if evidence.claimed else ""
    return Evidence(evidence.what, evidence.values, turned, claimed, evidence.missing)


def _own_columns(side: Operand) -> list[str]:
    """The columns of the row itself that a side reads."""
    if side.table is None and side.row is None and side.of is None and (side.column or side.words):
        return [side.words or side.column or ""]
    return [column for part in side.parts for column in _own_columns(part)]


def _label_columns(table: Table, rows: Sequence[Row], compared: Sequence[str]) -> list[str]:
    """The first columns of words, then of whole numbers, until they tell the rows apart."""
    label: list[str] = []
    for kind in (str, int):
        for column in table.columns:
            if label and len({_named(row, label) for row in rows}) == len(rows):
                return label
            differs = len(rows) == 1 or len({row[column] for row in rows}) > 1
            if differs and column not in compared and type(rows[0][column]) is kind:
                label.append(column)
    return label


def _rank(test: Rank, tables: Tables) -> Outcome:
    table = tables.table(test.table)
    table.must_have(test.columns)
    rows = table.choose(test.rows)
    own = table.one(test.row, rows)
    ranks = [0.0] * len(rows)
    for column, direction in test.columns.items():
        sign = 1 if direction == "higher" else -1
        values = [sign * number(row[column], f"'{column}' in {table.name}") for row in rows]
        for place, value in enumerate(values):
            better, same = sum(other > value for other in values), sum(other == value for other in values)
            ranks[place] += (better + (same + 1) / 2) / len(test.columns)
    mine = ranks[[row is own for row in rows].index(True)]
    place = 1 + sum(rank < mine - DUST for rank in ranks)
    first = rows[ranks.index(min(ranks))]
    label = list(test.row)
    what = f"mean rank over {', '.join(test.columns) if len(test.columns) < 4 else f'{len(test.columns)} columns'}"
    told: list[tuple[str, Scalar]] = [(_named(own, label), round(mine, 2))]
    if first is not own:
        told.insert(0, (_named(first, label), round(min(ranks), 2)))
    holds = related(Worth(place), test.relation, [Worth(test.place)])
    return Outcome(holds, (Evidence(f"{what}, place {place} of {len(rows)}", tuple(told), holds),))


def _sets(test: Sets, tables: Tables) -> Outcome:
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
    return Outcome(holds, (Evidence("members", tuple(values), holds),))


def _members(members: Members, tables: Tables) -> set[str]:
    if members.table is None:
        return set(members.values or ())
    table = tables.table(members.table)
    table.must_have(members.columns)
    rows = table.choose(members.rows)
    if any(row[column] is None for row in rows for column in members.columns):
        raise Missing(f"{table.name} has a row without a value of {' or '.join(members.columns)}")
    return {" ".join(str(row[column]) for column in members.columns) for row in rows} - set(members.without)


def _trend(test: Trend, tables: Tables) -> Outcome:
    table = tables.table(test.table)
    table.must_have([test.column, test.along, *test.by])
    series: dict[str, list[Row]] = {}
    for row in table.choose(test.rows):
        series.setdefault(_named(row, test.by), []).append(row)
    found = [_series(test, table, name, rows) for name, rows in series.items()]
    return Outcome(all_of(one.holds for one in found), tuple(found))


def _series(test: Trend, table: Table, name: str, rows: Sequence[Row]) -> Evidence:
    what = f"{name}, {test.column}" if name else test.column
    try:
        points = sorted(
            (
                number(row[test.along], f"'{test.along}'"),
                number(row[test.column], f"'{test.column}'{f' of {name}' if name else ''}"),
            )
            for row in rows
        )
    except Missing as error:
        return Evidence(what, missing=f"{table.name}: {error}")
    places = [place for place, _ in points]
    if len(set(places)) < max(2, len(places)):
        why = "has one point only" if len(places) < 2 else f"has two rows for one '{test.along}'; name more in 'by'"
        return Evidence(what, missing=f"{table.name}: {what} {why}")
    sign = 1 if test.relation in ("rises", "never falls") else -1
    strict = not test.relation.startswith("never")
    # two infinite ones are alike; their difference would be no number, and break nothing
    steps = [
        ((before, after), 0.0 if after[1] == before[1] else sign * (after[1] - before[1]))
        for before, after in pairwise(points)
    ]
    broken = [pair for pair, gain in steps if (gain + test.tolerance < 0 or (strict and gain + test.tolerance == 0))]
    pair = broken[0] if broken else (points[0], points[-1])
    values = tuple((f"at {test.along} {shown(place)}", value) for place, value in pair)
    return Evidence(what, values, not broken)


def _combined(test: Combined, tables: Tables) -> Outcome:
    parts = [check_test(part, tables) for part in test.tests]
    answer = {"all": all_of, "any": any_of, "neither": none_of}[test.kind](part.holds for part in parts)
    evidence = [one for part in parts for one in part.evidence]
    if test.kind == "neither":
        evidence = [_turned(one) for one in evidence]
    return Outcome(answer, tuple(evidence))


CHECKS: dict[str, Callable[[Any, Tables], Outcome]] = {
    **{"best": _best, "worst": _best, "compare": _compare, "every": _every, "some": _every, "none": _every},
    **{"rank": _rank, "set": _sets, "trend": _trend, "all": _combined, "any": _combined, "neither": _combined},
}
