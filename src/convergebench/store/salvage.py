"""The readable rows of a damaged database: by SQLite where possible, else from its raw pages."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convergebench.errors import StudyError
from convergebench.store.carve import carve
from convergebench.store.cell_checks import WORDS, columns_at, lenient, read_rows, row_fault, version_of
from convergebench.store.columns import Column, Columns, Values, by_column
from convergebench.store.connection import connect
from convergebench.store.lost_calls import KEY_KINDS, Indexed, indexed_calls, is_amount
from convergebench.store.schema import MIGRATIONS
from convergebench.texts import storable

KEYS = {
    "images": 1, "cases": 1, "chains": 2, "steps": 1, "chain_steps": 3, "attempts": 2, "answers": 1, "comparisons": 1,
    "measurements": 4, "labels": 1, "probes": 5, "anchors": 4, "parts": 1, "ratings": 1, "decisions": 3,
}  # fmt: skip
"""How many leading columns are a table's key."""
_ADDED: dict[str, Values] = {
    "steps": (None, 0),
    "attempts": (1, ""),
    "answers": (None, None, None),
    "cases": (None,),
}
"""Values of later columns in rows written before them."""
_PREFIXES: dict[str, dict[str, str]] = {
    "images": {"id": "i1:", "file": "images/"},
    "cases": {"image": "i1:", "clean": "i1:"},
    "answers": {"id": "a1:"},
    "steps": {"id": "s1:", "image": "i1:"},
    "chain_steps": {"step": "s1:"},
    "comparisons": {"id": "m1:", "subject": "i1:", "reference": "i1:", "via": "i1:"},
    "measurements": {"comparison": "m1:"},
    "parts": {"id": "p1:", "image": "i1:"},
    "ratings": {"image": "i1:"},
}
"""Prefixes of ids and paths, by table and column."""
_CHUNK = 1 << 20
_SECTOR = 4096


@dataclass
class Salvage:
    """What could be read."""

    version: int
    columns: Columns
    tables: dict[str, dict[Values, Values]]
    """Per table: key → row."""
    lost: dict[str, int] = field(default_factory=dict)
    """Rows that were found and cannot be used."""
    torn: set[str] = field(default_factory=set)
    """Tables with unreadable pages: the number of lost rows is unknown."""
    suspect: bool = False
    """SQLite reports faults in the file, whether or not it could read every table."""
    mended: int = 0
    """Rows of calls with faulty cells that were repaired."""
    indexed: dict[Values, Indexed] = field(default_factory=dict)
    """Calls found in the index of a damaged file."""

    def rows(self, table: str) -> list[dict[str, Any]]:
        """A table's rows by column; a table that this version does not have is empty."""
        return [by_column(self.columns[table], values) for values in self.tables.get(table, {}).values()]


def salvage(database: Path) -> Salvage:
    """Read everything, from a copy: opening the file and its log would change them."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "run.sqlite"
        for suffix in ("", "-wal"):
            source = database.with_name(f"{database.name}{suffix}")
            if source.is_file():
                copy_readable(source, copy.with_name(f"{copy.name}{suffix}"))
        found = _read(copy) if copy.exists() else None
        records = list(carve(copy)) if found is None or found.torn or found.suspect else []
    if found is None:
        version = len(MIGRATIONS) if any(len(one) == 12 and _fits("attempts", one) for one in records) else 4
        columns = columns_at(version)
        found = Salvage(version, columns, {table: {} for table in columns}, torn=set(columns))
    for record in records:
        _sort_in(found, record)
    found.indexed = indexed_calls(records)
    _repair_calls(found)
    return found


def copy_readable(source: Path, target: Path) -> None:
    """Copy a file from a failing disk: sectors that cannot be read become zeros."""
    with source.open("rb", buffering=0) as old, target.open("wb") as new:
        size = os.fstat(old.fileno()).st_size
        for start in range(0, size, _CHUNK):
            new.write(_read_sectors(old.fileno(), start, min(_CHUNK, size - start)))


def _read_sectors(handle: int, start: int, length: int) -> bytes:
    try:
        return os.pread(handle, length, start)
    except OSError:
        if length <= _SECTOR:
            return bytes(length)
    pieces = range(start, start + length, _SECTOR)
    return b"".join(_read_sectors(handle, piece, min(_SECTOR, start + length - piece)) for piece in pieces)


def _read(copy: Path) -> Salvage | None:
    """Read by SQLite; None if it cannot open the file."""
    try:
        with closing(connect(copy, read_only=True)) as connection:
            lenient(connection)
            version = version_of(connection)
            found = Salvage(version, columns_at(version), {})
            for table, columns in found.columns.items():
                found.tables[table] = {}
                _read_table(connection, table, columns, found)
            # rows on pages that SQLite skipped silently are found among the raw pages
            found.suspect = not _passes_check(connection)
            return found
    except (StudyError, sqlite3.Error):
        return None


def _passes_check(connection: sqlite3.Connection) -> bool:
    try:
        return all(line == "ok" for (line,) in connection.execute("pragma quick_check"))
    except sqlite3.Error:
        return False


def _read_table(connection: sqlite3.Connection, table: str, columns: tuple[Column, ...], found: Salvage) -> None:
    try:
        for values in read_rows(connection, table, columns):
            _take(found, table, columns, values)
    except sqlite3.Error:
        found.torn.add(table)


def _take(found: Salvage, table: str, columns: tuple[Column, ...], values: Values) -> None:
    if table == "attempts" and isinstance(values[0], str) and isinstance(values[1], int):
        found.tables[table].setdefault(values[:2], values)  # no call is thrown away; see _repair_calls
    elif row_fault(table, columns, values):
        found.lost[table] = found.lost.get(table, 0) + 1
    else:
        found.tables[table].setdefault(values[: KEYS[table]], values)


def _sort_in(found: Salvage, record: Values) -> None:
    """Add a record from a raw page to the table that it fits, unless it is there."""
    for table in found.columns if found.suspect else found.torn:
        columns = found.columns[table]
        values = _padded(table, record, len(columns))
        if values is not None and _fits(table, values):
            whole = tuple(
                float(value) if column.kind == "real" and isinstance(value, int) else value
                for column, value in zip(columns, values, strict=True)
            )
            if not row_fault(table, columns, whole):
                found.tables[table].setdefault(whole[: KEYS[table]], whole)


def _padded(table: str, record: Values, width: int) -> Values | None:
    missing = width - len(record)
    added = _ADDED.get(table, ())
    if not 0 <= missing <= len(added):
        return None
    return (*record, *added[len(added) - missing :]) if missing else record


def _fits(table: str, values: Values) -> bool:
    """Whether a row has the prefixes and words of this table; `row_fault` checks the types."""
    columns = columns_at(len(MIGRATIONS))[table]
    if table == "attempts":
        return isinstance(values[0], str) and values[0][:3] in KEY_KINDS and values[1] != values[2]
    named = {column.name: value for column, value in zip(columns, values, strict=False)}
    begun = all(
        named.get(name) is None or str(named[name]).startswith(beginning)
        for name, beginning in _PREFIXES.get(table, {}).items()
    )
    return begun and all(named[name] in words for name, words in WORDS.get(table, {}).items())


def _repair_calls(found: Salvage) -> None:
    """Repair rows of calls, so that spending stays counted; a lost amount becomes the editor's highest price."""
    columns = found.columns["attempts"]
    rows = found.tables["attempts"]
    prices: dict[Any, float] = {}
    for row in found.rows("attempts"):
        if is_amount(row["dollars"]):
            prices[row["editor"]] = max(prices.get(row["editor"], 0.0), float(row["dollars"]))
    for key, values in list(rows.items()):
        if not row_fault("attempts", columns, values):
            continue
        row = by_column(columns, values)
        price = prices.get(row["editor"], max(prices.values(), default=0.0))
        row |= {name: _text(row[name]) for name in ("editor", "started", "outcome", "error")}
        row |= {name: None for name in ("model", "raw") if row_fault("", [_column(columns, name)], (row[name],))}
        row["seconds"] = row["seconds"] if is_amount(row["seconds"]) else 0.0
        if not is_amount(row["dollars"]):
            row |= {"dollars": price} | ({"settled": 0} if "settled" in row else {})
        if "settled" in row:
            row |= {"settled": int(row["settled"] == 1), "part": _text(row["part"])}
        rows[key] = tuple(row.values())
        found.mended += 1


def _column(columns: tuple[Column, ...], name: str) -> Column:
    return next(column for column in columns if column.name == name)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return storable(str(value if value is not None else ""))
