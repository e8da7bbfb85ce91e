"""Nothing in a run leads out of its folder: neither a file name in its database nor a symbolic link.

A run that came from somebody else may name `../../private.png` as one of its images, and the report or the data set
made from it would then carry that picture away; a link in the place of `report` would have files written elsewhere.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.store.journal import connect
from convergebench.texts import short_line

_COLUMNS = (("images", "file"), ("labels", "evidence"))
"""Where a run's database names files, relative to its folder."""
_LEADS_OUT = """
  select hex(cast({0} as blob)) from {1} where {0} is not null and (typeof({0}) <> 'text' or {0} glob '/*'
    or instr({0}, '\\') or instr({0}, ':') or instr('/' || {0} || '/', '/../') or instr({0}, char(0))) limit 1"""
"""An absolute path, one that climbs, or one that is either on another system. As hexadecimal digits: a name that is no
text must not end the search."""
_NO_TABLE = """
  select hex(cast(type || ' ' || name as blob)) from sqlite_master
  where type in ('view', 'trigger') or (type = 'table' and sql like 'create virtual%') limit 1"""
"""A run's database has plain tables only; a view could name another file each time it is read."""


def require_inside(root: Path) -> None:
    """`StudyError` if the run's database or a link in its folder names a file outside it."""
    strange = next(_strange(root, os.path.realpath(root)), None)
    if strange is not None:
        raise StudyError(
            f"{short_line(strange)} is a link that leads out of the run, or no plain file; nothing was read. "
            "Remove it if it is not yours; to keep a run elsewhere, link to its whole folder"
        )
    name = _named_outside(root / "run.sqlite")
    if name is not None:
        raise StudyError(
            f"the database of {root} has '{short_line(name)}', which is not a file inside the run; nothing was read. "
            "Do not use this run, or get it again from where it came"
        )


def _named_outside(database: Path) -> str | None:
    """A name that leads out of the run, or a part of the database that could give another answer to each reader."""
    try:
        with closing(connect(database, read_only=True)) as connection:
            for (name,) in connection.execute(_NO_TABLE):
                return _text(name)
            tables = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
            for table, column in _COLUMNS:
                if table in tables:  # a run from before there were labels has none
                    for (name,) in connection.execute(_LEADS_OUT.format(column, table)):
                        return _text(name)
    except (StudyError, sqlite3.Error):  # a damaged database is told by whoever reads it
        return None
    return None


def _text(name: str) -> str:
    return bytes.fromhex(name).decode("utf-8", "replace")


def _strange(root: Path, inside: str) -> Iterator[str]:
    """Links whose target is not in the run; and pipes, sockets and devices, which could keep a reader waiting."""
    folders = [str(root)]
    while folders:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError:  # told by whoever needs what is in it
            continue
        for entry in entries:
            if entry.is_symlink():
                if not os.path.realpath(entry.path).startswith(inside + os.sep):
                    yield entry.path
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif not entry.is_file(follow_symlinks=False):
                yield entry.path
