"""Opening `run.sqlite` with the settings that all readers rely on; older runs are read in today's schema."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.store.rollback import require_harmless_rollback
from convergebench.store.schema import MIGRATIONS, migrate


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection to the file as it is: WAL, full sync, no implicit transactions."""
    require_harmless_rollback(path)
    uri = path.resolve().as_uri()
    if read_only:
        # in a read-only archive no log can be created, and none is needed
        archive = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
        uri += "?mode=ro&immutable=1" if archive else "?mode=ro"
    try:
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None, timeout=30)
        if not read_only:
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = full")
        connection.execute("pragma cache_size = -65536")
        connection.execute("select count(*) from sqlite_master").fetchone()  # the first look at the file itself
    except sqlite3.Error as error:
        raise _unreadable(path, error) from error
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """A read-only connection whose tables are those of today's schema.

    A run of an older schema is read from a temporary copy that is brought up to date; the run itself stays as it is.
    This is the only place that has to know about older schemas: readers may name every column.
    """
    return _in_todays_schema(connect(path, read_only=True), path)


def open_quietly(path: Path, *, seconds: float) -> sqlite3.Connection:
    """The same for whoever may not leave a trace: no file is created beside the database, and no query takes longer."""
    try:
        connection = _in_todays_schema(connect_quietly(path), path)
    except sqlite3.Error as error:
        raise _unreadable(path, error) from error
    limit_seconds(connection, seconds)
    return connection


def connect_quietly(path: Path) -> sqlite3.Connection:
    """A connection that creates no file: without a log (or its index) SQLite would make one."""
    require_harmless_rollback(path)
    beside = [path.with_name(f"{path.name}-{end}") for end in ("wal", "shm")]
    live = all(one.is_file() for one in beside) and beside[0].stat().st_size > 0
    mode = "mode=ro" if live else "mode=ro&immutable=1"
    uri = f"{path.resolve().as_uri()}?{mode}"
    return sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None, timeout=2)


def limit_seconds(connection: sqlite3.Connection, seconds: float) -> None:
    """Give up every query after this time: a database can be made to be slow."""
    until = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > until, 100_000)


def _in_todays_schema(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    try:
        (version,) = connection.execute("pragma user_version").fetchone()
        if not 0 < version < len(MIGRATIONS):
            return connection
        copy = sqlite3.connect("", check_same_thread=False, isolation_level=None)  # "": SQLite's own temporary file
        connection.backup(copy)
        connection.close()
        migrate(copy)
    except sqlite3.Error as error:
        raise _unreadable(path, error) from error
    return copy


def _unreadable(path: Path, error: sqlite3.Error) -> StudyError:
    return StudyError(f"{path} cannot be opened: {error}; see: cbench verify {path.parent}")
