"""Filter, sort and page a frame as an address asks for it. Whatever does not fit is refused in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from starlette.datastructures import QueryParams

from convergebench.report.chains import plain
from convergebench.serve.guard import Refusal

MOST_ROWS = 1000
"""Most rows of one page."""
MOST_CONDITIONS = 20
LONGEST = 400
"""Most characters of one condition."""
OPERATORS = ("is", "not", "above", "below", "has")
KNOWN = ("sort", "where", "find", "offset", "limit")
_NO_FILTER = ("series",)

Column = Mapping[str, str]
"""name, label and kind (text, number, image or series)."""


@dataclass(frozen=True)
class RowCondition:
    """`COLUMN:OPERATOR:VALUE`."""

    column: str
    operator: str
    value: str


@dataclass(frozen=True)
class Query:
    """What an address asks for."""

    conditions: tuple[RowCondition, ...] = ()
    find: str = ""
    sort: tuple[tuple[str, bool], ...] = ()
    """Columns with whether the largest comes first."""
    offset: int = 0
    limit: int = 200


def read_query(parameters: QueryParams, columns: Sequence[Column]) -> Query:
    """The query of an address; `Refusal` says what is wrong."""
    known = {column["name"]: column["kind"] for column in columns}
    unknown = next((name for name in parameters if name not in KNOWN), None)
    if unknown is not None:
        raise Refusal(400, f"There is no parameter '{_short(unknown)}' (there are: {', '.join(KNOWN)}).")
    for name in ("find", "offset", "limit", "sort"):
        if len(parameters.getlist(name)) > 1:
            raise Refusal(400, f"'{name}' is given twice.")
    where = parameters.getlist("where")
    if len(where) > MOST_CONDITIONS:
        raise Refusal(400, f"These are {len(where)} conditions; the most is {MOST_CONDITIONS}.")
    find = _text(parameters.get("find", ""))
    return Query(
        tuple(_condition(one, known) for one in where),
        find,
        _sort(parameters.get("sort", ""), known),
        _whole("offset", parameters.get("offset", "0"), 0, 10**9),
        _whole("limit", parameters.get("limit", "200"), 0, MOST_ROWS),
    )


def answer(frame: pl.DataFrame, columns: Sequence[Column], query: Query) -> dict[str, Any]:
    """total, columns and the rows of one page."""
    kinds = {column["name"]: column["kind"] for column in columns}
    for condition in query.conditions:
        frame = frame.filter(_holds(condition, kinds[condition.column]))
    if query.find:
        texts = [name for name, kind in kinds.items() if kind == "text"]
        frame = frame.filter(pl.any_horizontal([_has(name, query.find) for name in texts] or [pl.lit(False)]))
    if query.sort:
        names, descending = zip(*query.sort, strict=True)
        frame = frame.sort(names, descending=descending, nulls_last=True, maintain_order=True)
    rows = frame.slice(query.offset, query.limit).select([column["name"] for column in columns]).rows()
    return {"total": frame.height, "columns": list(columns), "rows": plain(rows)}


def _condition(text: str, known: Mapping[str, str]) -> RowCondition:
    column, _, rest = _text(text).partition(":")
    operator, mark, value = rest.partition(":")
    if not mark:
        raise Refusal(400, f"'{_short(text)}' is not COLUMN:OPERATOR:VALUE.")
    if column not in known or known[column] in _NO_FILTER:
        raise Refusal(400, f"There is no column '{_short(column)}' to filter by.")
    if operator not in OPERATORS:
        raise Refusal(400, f"There is no operator '{_short(operator)}' (there are: {', '.join(OPERATORS)}).")
    if operator in ("above", "below") and known[column] != "number":
        raise Refusal(400, f"'{_short(column)}' is not a column of numbers; use is, not or has.")
    if known[column] == "number" and operator != "has" and value:
        _number(value)
    return RowCondition(column, operator, value)


def _sort(text: str, known: Mapping[str, str]) -> tuple[tuple[str, bool], ...]:
    found = []
    for part in filter(None, _text(text).split(",")):
        name = part.removeprefix("-")
        if name not in known or known[name] in _NO_FILTER:
            raise Refusal(400, f"There is no column '{_short(name)}' to sort by.")
        found.append((name, part.startswith("-")))
    if len({name for name, _ in found}) < len(found):
        raise Refusal(400, "A column is sorted by twice.")
    return tuple(found)


def _holds(condition: RowCondition, kind: str) -> pl.Expr:
    column, value = pl.col(condition.column), condition.value
    match condition.operator:
        case "above":
            return column > _number(value)
        case "below":
            return column < _number(value)
        case "has":
            return _has(condition.column, value)
    if not value:  # `is:` finds what has no value
        empty = column.is_null() if kind == "number" else (column.is_null() | (column == ""))
    else:
        empty = (column == (_number(value) if kind == "number" else value)).fill_null(False)
    return empty if condition.operator == "is" else ~empty


def _has(column: str, words: str) -> pl.Expr:
    text = pl.col(column).cast(pl.String).str.to_lowercase()
    return text.str.contains(words.lower(), literal=True).fill_null(False)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise Refusal(400, f"'{_short(text)}' is not a number.")
    return value


def _whole(name: str, text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 12 and least <= int(text) <= most):
        raise Refusal(400, f"{name} is a whole number from {least} to {most}.")
    return int(text)


def _text(text: str) -> str:
    if len(text) > LONGEST:
        raise Refusal(400, f"A condition has at most {LONGEST} characters.")
    if "\0" in text or not text.isprintable():
        raise Refusal(400, "A condition has only printable characters.")
    return text


def _short(text: str) -> str:
    shown = "".join(one if one.isprintable() else "?" for one in text[:40])
    return shown + ("…" if len(text) > 40 else "")
