"""What each column of the journal can hold.

Values are checked before they are queued: a bad one fails its own caller, never the shared transaction.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from convergebench.errors import Unstorable
from convergebench.store.tables import TableRow

LARGEST = 2**63 - 1
"""SQLite's integers have 64 bits."""


class Column(NamedTuple):
    """A column as the schema declares it."""

    name: str
    kind: str
    """text, integer or real."""
    required: bool


Columns = Mapping[str, tuple[Column, ...]]
Values = tuple[Any, ...]
"""The cells of a row, in column order."""


def by_column(columns: Sequence[Column], values: Values) -> dict[str, Any]:
    """A row's cells by column name."""
    return {column.name: value for column, value in zip(columns, values, strict=True)}


def columns_of(connection: sqlite3.Connection) -> Columns:
    """Every table's columns, in order."""
    tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
    return {table: tuple(_columns(connection, table)) for table in tables}


def _columns(connection: sqlite3.Connection, table: str) -> list[Column]:
    rows = connection.execute(f"pragma table_info({table})")
    return [Column(name, kind.lower(), bool(required or key)) for _, name, kind, required, _, key in rows]


def require_storable(columns: Columns, row: TableRow) -> None:
    """`Unstorable` if a cell of a row does not fit its column."""
    if not isinstance(row, TableRow):
        raise Unstorable(f"a {type(row).__name__} is not a row of a table; see convergebench.store.tables")
    for column, value in zip(columns[row.table], row.values(), strict=True):
        fault = _fault(column, value)
        if fault:
            raise Unstorable(f"{row.table}.{column.name} cannot hold {fault}")


def _fault(column: Column, value: Any) -> str:
    """What is wrong with a value; empty if it is valid."""
    if value is None:
        return "an empty value" if column.required else ""
    if column.kind == "text":
        return _text_fault(value)
    if column.kind == "integer":
        whole = isinstance(value, int)
        return "" if whole and abs(value) <= LARGEST else _described(value)
    if not isinstance(value, int | float):
        return _described(value)
    if isinstance(value, int) and abs(value) > LARGEST:
        return _described(value)
    # SQLite turns "not a number" into an empty value
    return "an empty value" if column.required and math.isnan(value) else ""


def _text_fault(value: Any) -> str:
    if not isinstance(value, str):
        return _described(value)
    if value.isascii():
        return ""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"half a character (\\u{ord(value[error.start]):04x})"
    return ""


def _described(value: Any) -> str:
    if isinstance(value, int):
        return f"a number of {value.bit_length()} bits"
    return f"a value of the type {type(value).__name__}"
