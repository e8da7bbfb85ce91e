"""Refuses runs that refer to files outside their folder, by a file name in the database or by a symbolic link.

A received run may name `../../private.png` as one of its images: a report or data set made from it would publish that
file. A link in place of `report` would redirect writing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.store.connection import connect
from convergebench.texts import short_line

_COLUMNS = (("images", "file"), ("labels", "evidence"))
"""Columns with file names relative to the run folder."""
_LEADS_OUT = """
  select hex(cast({0} as blob)) from {1} where {0} is not null and (typeof({0}) <> 'text' or {0} glob '/*'
    or instr({0}, '\\') or instr({0}, ':') or instr('/' || {0} || '/', '/../') or instr({0}, char(0))) limit 1"""
"""Absolute paths and paths with `..`, on any system; as hexadecimal digits, since a name may hold any bytes."""
_NOT_A_TABLE = """
  select hex(cast(type || ' ' || name as blob)) from sqlite_master
  where type in ('view', 'trigger') or (type = 'table' and sql like 'create virtual%') limit 1"""
"""Views, triggers and virtual tables: a view could give another file name at each read."""


def require_inside(root: Path) -> None:
    """`StudyError` if the run's database or a link in its folder names a file outside it."""
    outside = next(_outside(root, os.path.realpath(root)), None)
    if outside is not None:
        raise StudyError(
            f"{short_line(outside)} is a link that leads out of the run, or not a plain file; nothing was read. "
            f"Remove it if it is not yours; to keep a run elsewhere, link to its whole folder"
        )
    name = _named_outside(root / "run.sqlite")
    if name is not None:
        raise StudyError(
            f"the database of {root} has '{short_line(name)}', which is not a file inside the run; nothing was read. "
            "Do not use this run, or download it again from its source"
        )


def _named_outside(database: Path) -> str | None:
    """The first file name that leads out of the run, or the first view, trigger or virtual table."""
    try:
        with closing(connect(database, read_only=True)) as connection:
            return name_outside(connection)
    except (StudyError, sqlite3.Error):  # readers report a damaged database
        return None


def name_outside(connection: sqlite3.Connection) -> str | None:
    """The same of an open database."""
    for (name,) in connection.execute(_NOT_A_TABLE):
        return _text(name)
    tables = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
    for table, column in _COLUMNS:
        if table in tables:  # older runs have no labels
            for (name,) in connection.execute(_LEADS_OUT.format(column, table)):
                return _text(name)
    return None


def _text(name: str) -> str:
    return bytes.fromhex(name).decode("utf-8", "replace")


def _outside(root: Path, inside: str) -> Iterator[str]:
    """Links whose target is not in the run; and pipes, sockets and devices, which could block a reader."""
    folders = [str(root)]
    while folders:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError:  # reported when its content is needed
            continue
        for entry in entries:
            if entry.is_symlink():
                if not os.path.realpath(entry.path).startswith(inside + os.sep):
                    yield entry.path
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif not entry.is_file(follow_symlinks=False):
                yield entry.path
