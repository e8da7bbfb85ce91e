"""Is a run what it says it is? Every file, every row and every key is looked at; no fault stops the looking."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.store.columns import Column, Columns
from convergebench.store.images import DamagedImage, identity_of, read_image
from convergebench.store.journal import connect
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.outside import require_inside
from convergebench.store.rows import Values, columns_at, lenient, read_rows, row_fault, version_of
from convergebench.store.run import is_run, require_run
from convergebench.store.step_keys import key_fault

DANGLING = {
    "steps without their image": (
        "select count(*) from steps where status = 'ok' and (image is null or image not in (select id from images))"
    ),
    "cases without their image": "select count(*) from cases where image not in (select id from images)",
    "comparisons without an image": """
        select count(*) from comparisons where subject not in (select id from images)
        or reference not in (select id from images) or via not in (select id from images)""",
    "chain positions without their step": "select count(*) from chain_steps where step not in (select id from steps)",
    "measurements without their comparison": (
        "select count(*) from measurements where comparison not in (select id from comparisons)"
    ),
    "chains without their case": 'select count(*) from chains where "case" not in (select id from cases)',
    "answers of parts without their image": "select count(*) from parts where image not in (select id from images)",
}
_WORST_OF_A_TABLE = 10
"""So many rows of one table are named; the others are counted."""


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
    """Each part by itself: what one cannot read, another may."""
    yield from _guarded("its pages", _integrity(connection))
    wanted = columns_at(version_of(connection))
    for table, columns in wanted.items():
        yield from _guarded(f"table {table}", _rows(connection, table, columns))
    yield from _dangling(connection, wanted)
    if manifest is not None:
        yield from _guarded("the keys of steps", _keys(connection, wanted["steps"], manifest))
    yield from _guarded("the files of images", _files(connection, wanted["images"], root, checked))


def _guarded(what: str, lines: Iterator[str]) -> Iterator[str]:
    try:
        yield from lines
    except sqlite3.Error as error:
        yield f"database, {what}: {error}"


def _integrity(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute("pragma integrity_check"):
        if line != "ok":
            yield f"database: {line}"


def _rows(connection: sqlite3.Connection, table: str, columns: tuple[Column, ...]) -> Iterator[str]:
    bad = 0
    for values in read_rows(connection, table, columns):
        fault = row_fault(table, columns, values)
        bad += bool(fault)
        if fault and bad <= _WORST_OF_A_TABLE:
            yield f"table {table}, row {_shown(values[0])}: {fault}"
    if bad > _WORST_OF_A_TABLE:
        yield f"table {table}: {bad - _WORST_OF_A_TABLE} more such rows"


def _shown(key: object) -> str:
    return str(key)[:80]


def _dangling(connection: sqlite3.Connection, wanted: Columns) -> Iterator[str]:
    for what, query in DANGLING.items():
        if "parts" in query and "parts" not in wanted:  # an older schema
            continue
        try:
            (count,) = connection.execute(query).fetchone()
        except sqlite3.Error as error:
            yield f"database, {what}: {error}"
            continue
        if count:
            yield f"{count} {what}"


def _sound(connection: sqlite3.Connection, table: str, columns: tuple[Column, ...]) -> Iterator[Mapping[str, object]]:
    """Rows without a fault, by column; those with one have been told."""
    for values in read_rows(connection, table, columns):
        if not row_fault(table, columns, values):
            yield by_name(columns, values)


def by_name(columns: tuple[Column, ...], values: Values) -> dict[str, object]:
    """A row as a table."""
    return {column.name: value for column, value in zip(columns, values, strict=True)}


def _keys(connection: sqlite3.Connection, columns: tuple[Column, ...], manifest: Manifest) -> Iterator[str]:
    for step in _sound(connection, "steps", columns):
        fault = key_fault(step, manifest.editors)
        if fault:
            yield fault


def _files(connection: sqlite3.Connection, columns: tuple[Column, ...], root: Path, checked: set[str]) -> Iterator[str]:
    for image in _sound(connection, "images", columns):
        file = str(image["file"])
        checked.add(file)
        yield from _file_fault(root, file, str(image["id"]))


def _file_fault(root: Path, file: str, identity: str | None = None) -> Iterator[str]:
    try:
        read_image(root, file, identity)
    except DamagedImage as error:
        yield f"{file} {error.what}"


def _other_files(root: Path, checked: set[str]) -> Iterator[str]:
    """Images that no readable row names, by their own names."""
    for path in sorted((root / "images").glob("*/*")):
        file = path.relative_to(root).as_posix()
        if file not in checked and identity_of(file) is not None:
            yield from _file_fault(root, file)


def totals(root: Path) -> str:
    """How much a run holds, in words."""
    with closing(connect(root / "run.sqlite", read_only=True)) as connection:
        counts = [
            f"{connection.execute(f'select count(*) from {table}').fetchone()[0]:,} {table}"
            for table in ("chains", "steps", "attempts", "images", "measurements")
        ]
    return ", ".join(counts)
