"""Reading the tables of a run that may be damaged: every cell is checked against its column; faults stop nothing."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from functools import cache
from typing import Any

from convergebench.store.columns import LARGEST, Column, Columns, Values, columns_of
from convergebench.store.images import EXTENSIONS
from convergebench.store.schema import MIGRATIONS

WORDS: Mapping[str, Mapping[str, frozenset[str]]] = {
    "images": {"mime": frozenset(EXTENSIONS)},
    "chains": {"status": frozenset({"open", "finished", "refused", "failed", "ended", "stopped"})},
    "steps": {"status": frozenset({"ok", "refused", "ended"})},
    "anchors": {"anchor": frozenset({"noise", "grey", "other"})},
    "labels": {"source": frozenset({"rule", "judge", "person"})},
    "ratings": {"source": frozenset({"person", "role"})},
}
"""Columns that hold one of a few words."""
JSON_CELLS: Mapping[str, Mapping[str, type]] = {
    "steps": {"settings": dict, "used": dict},
    "labels": {"region": list},
    "answers": {"payload": dict, "value": object},
    "parts": {"used": dict},
    "decisions": {"facts": dict},
}


@cache
def columns_at(version: int) -> Columns:
    """The tables of this schema version, in order of creation."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for script in MIGRATIONS[:version]:
            connection.executescript(script)
        return columns_of(connection)


def version_of(connection: sqlite3.Connection) -> int:
    """The schema version; an impossible number counts as the newest one, so that every table is looked for."""
    (version,) = connection.execute("pragma user_version").fetchone()
    return version if 1 <= version <= len(MIGRATIONS) else len(MIGRATIONS)


def lenient(connection: sqlite3.Connection) -> None:
    """Decode text that is not UTF-8 with surrogates instead of raising."""
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")


def read_rows(connection: sqlite3.Connection, table: str, columns: Sequence[Column]) -> Iterator[Values]:
    """The rows of a table with these columns; `sqlite3.Error` if a column or a page is missing."""
    # qualified by the table: SQLite reads a quoted unknown name as a string
    names = ", ".join(f'{table}."{column.name}"' for column in columns)
    for row in connection.execute(f"select {names} from {table} not indexed"):  # noqa: UP028 see Records.rows
        yield row


def row_fault(table: str, columns: Sequence[Column], values: Values) -> str:
    """What is wrong with the first faulty cell; empty if the row is valid."""
    for column, value in zip(columns, values, strict=True):
        fault = _cell_fault(column, value) or _meaning_fault(table, column.name, value)
        if fault:
            return f"{column.name} {fault}"
    return ""


def _cell_fault(column: Column, value: Any) -> str:
    if value is None:
        return "is empty" if column.required else ""
    if column.kind == "text":
        if not isinstance(value, str):
            return f"is a {type(value).__name__} instead of text"
        return "" if value.isascii() or _is_unicode(value) else "is not UTF-8"
    if column.kind == "integer":
        whole = isinstance(value, int) and abs(value) <= LARGEST
        return "" if whole else f"is a {type(value).__name__} instead of a whole number"
    if not isinstance(value, int | float):
        return f"is a {type(value).__name__} instead of a number"
    return "is not a number" if math.isnan(value) else ""


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _meaning_fault(table: str, name: str, value: Any) -> str:
    if value is None:
        return ""
    words = WORDS.get(table, {}).get(name)
    if words is not None and value not in words:
        return f"is '{str(value)[:20]}', which is not one of: {', '.join(sorted(words))}"
    kind = JSON_CELLS.get(table, {}).get(name)
    if kind is not None:
        try:
            content = json.loads(value)
        except (ValueError, RecursionError):
            return "is not JSON"
        if not isinstance(content, kind):
            return f"is not a JSON {'table' if kind is dict else 'list'}"
        if name == "region" and not _is_region(content):
            return "is not four numbers"
    if (table, name) == ("labels", "made") and not _is_time(value):
        return f"is '{str(value)[:20]}', which is not a time"
    if name in ("dollars", "seconds") and (not math.isfinite(value) or value < 0):
        return f"is {value}"
    return ""


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_region(content: Any) -> bool:
    return len(content) == 4 and all(isinstance(one, int | float) and math.isfinite(one) for one in content)
