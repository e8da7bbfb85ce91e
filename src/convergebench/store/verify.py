"""Checking a run: every file, every row and every key is verified; a fault does not stop the check."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from convergebench.errors import StudyError
from convergebench.store.cell_checks import columns_at, lenient, read_rows, row_fault, version_of
from convergebench.store.columns import Column, Columns, by_column
from convergebench.store.comparison_keys import comparison_faults
from convergebench.store.connection import connect
from convergebench.store.images import STORE, DamagedImage, identity_of, read_here
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.outside import require_inside
from convergebench.store.run import is_run, require_run
from convergebench.store.step_keys import key_fault


class NamedImage(NamedTuple):
    """An image that a row of the journal names."""

    file: str
    identity: str


class Reference(NamedTuple):
    """Cells that name a row of another table."""

    fault: str
    """The message if that row is missing."""
    table: str
    columns: tuple[str, ...]
    to: str


REFERENCES = (
    Reference("steps without their image", "steps", ("image",), "images"),
    Reference("cases without their image", "cases", ("image",), "images"),
    Reference("cases without their clean reference", "cases", ("clean",), "images"),
    Reference("comparisons without an image", "comparisons", ("subject", "reference", "via"), "images"),
    Reference("chain positions without their step", "chain_steps", ("step",), "steps"),
    Reference("measurements without their comparison", "measurements", ("comparison",), "comparisons"),
    Reference("chains without their case", "chains", ("case",), "cases"),
    Reference("answers of parts without their image", "parts", ("image",), "images"),
    Reference("ratings without their image", "ratings", ("image",), "images"),
    Reference("decisions without their case", "decisions", ("case",), "cases"),
)
_WORST_OF_A_TABLE = 10
"""Faulty rows of one table that are listed; the others are counted."""


def problems(root: Path) -> list[str]:
    """Everything that is not as it should be, one line each."""
    if not is_run(root):
        require_run(root)
    manifest: Manifest | None = None
    found: list[str] = []
    try:
        require_inside(root)
    except StudyError as error:
        found.append(str(error))
    try:
        manifest = read_manifest(root / "manifest.json")
    except StudyError as error:
        found.append(str(error) if (root / "manifest.json").exists() else "manifest.json is missing")
    checked: set[str] = set()
    try:
        if not (root / "run.sqlite").is_file():
            raise StudyError("run.sqlite is missing or is not a plain file")
        with closing(connect(root / "run.sqlite", read_only=True)) as connection:
            lenient(connection)
            found += _database(connection, manifest, root, checked)
    except (StudyError, sqlite3.Error) as error:
        found.append(str(error))
    return found + list(_other_files(root, checked))


def _database(
    connection: sqlite3.Connection, manifest: Manifest | None, root: Path, checked: set[str]
) -> Iterator[str]:
    """Each check on its own: a page that one cannot read may not concern the next."""
    yield from _guarded("its pages", _integrity(connection))
    known = columns_at(version_of(connection))
    for table, columns in known.items():
        yield from _guarded(f"table {table}", _rows(connection, table, columns))
    yield from _dangling(connection, known)
    if manifest is not None:
        yield from _guarded("the keys of steps", _keys(connection, known["steps"], manifest))
        renamed = {new for one in manifest.sessions for new in one.get("renamed", {}).values()}
        yield from _few(_guarded("the keys of comparisons", comparison_faults(connection, renamed)), "comparisons")
    yield from _guarded("the files of images", _files(connection, known["images"], root, checked))


def _guarded(what: str, lines: Iterator[str]) -> Iterator[str]:
    try:
        yield from lines
    except sqlite3.Error as error:
        yield f"database, {what}: {error}"


def _integrity(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute("pragma integrity_check"):
        if line != "ok":
            yield f"database: {' '.join(str(line).split())}"


def _rows(connection: sqlite3.Connection, table: str, columns: tuple[Column, ...]) -> Iterator[str]:
    bad = 0
    for values in read_rows(connection, table, columns):
        fault = row_fault(table, columns, values)
        bad += bool(fault)
        if fault and bad <= _WORST_OF_A_TABLE:
            yield f"table {table}, row {_shown(values[0])}: {fault}"
    if bad > _WORST_OF_A_TABLE:
        yield f"table {table}: {bad - _WORST_OF_A_TABLE} more such rows"


def _few(lines: Iterator[str], table: str) -> Iterator[str]:
    yield from islice(lines, _WORST_OF_A_TABLE)
    more = sum(1 for _ in lines)
    if more:
        yield f"table {table}: {more} more such rows"


def _shown(key: object) -> str:
    return str(key)[:80]


def _dangling(connection: sqlite3.Connection, known: Columns) -> Iterator[str]:
    for fault, table, columns, to in REFERENCES:
        if not set(columns) <= {column.name for column in known.get(table, ())}:  # an older schema
            continue
        where = " or ".join(f'{table}."{column}" not in (select id from {to})' for column in columns)
        if table == "steps":  # a step that has no image may have been refused
            where = f"status = 'ok' and (image is null or {where})"
        try:
            (count,) = connection.execute(f"select count(*) from {table} where {where}").fetchone()
        except sqlite3.Error as error:
            yield f"database, {fault}: {error}"
            continue
        if count:
            yield f"{count} {fault}"


def _faultless(
    connection: sqlite3.Connection, table: str, columns: tuple[Column, ...]
) -> Iterator[Mapping[str, object]]:
    """Rows without a fault, by column; `_rows` names those with one."""
    for values in read_rows(connection, table, columns):
        if not row_fault(table, columns, values):
            yield by_column(columns, values)


def _keys(connection: sqlite3.Connection, columns: tuple[Column, ...], manifest: Manifest) -> Iterator[str]:
    for step in _faultless(connection, "steps", columns):
        fault = key_fault(step, manifest.editors)
        if fault:
            yield fault


def _files(connection: sqlite3.Connection, columns: tuple[Column, ...], root: Path, checked: set[str]) -> Iterator[str]:
    for image in _faultless(connection, "images", columns):
        file = str(image["file"])
        checked.add(file)
        yield from _file_fault(root, file, str(image["id"]))


def _file_fault(root: Path, file: str, identity: str | None = None) -> Iterator[str]:
    if (root / STORE).is_file() and not (root / file).exists():
        return  # the folder is a cache: `stored_images` has what the store should have
    try:
        read_here(root, file, identity)
    except DamagedImage as error:
        yield f"{file} {error.what}"


def stored_images(root: Path) -> Iterator[NamedImage]:
    """The images that faultless rows name, for a check of the run's store."""
    try:
        with closing(connect(root / "run.sqlite", read_only=True)) as connection:
            lenient(connection)
            columns = columns_at(version_of(connection))["images"]
            for image in _faultless(connection, "images", columns):
                yield NamedImage(str(image["file"]), str(image["id"]))
    except (StudyError, sqlite3.Error):  # `problems` says what is wrong with it
        return


def _other_files(root: Path, checked: set[str]) -> Iterator[str]:
    """Image files that no readable row names, checked against their own names."""
    for path in sorted((root / "images").glob("*/*")):
        file = path.relative_to(root).as_posix()
        if file not in checked and identity_of(file) is not None:
            yield from _file_fault(root, file)


def totals(root: Path) -> str:
    """The row counts of a run, as one line."""
    with closing(connect(root / "run.sqlite", read_only=True)) as connection:
        counts = [
            f"{connection.execute(f'select count(*) from {table}').fetchone()[0]:,} {table}"
            for table in ("chains", "steps", "attempts", "images", "measurements")
        ]
    return ", ".join(counts)
