"""Opening a run never deletes a file: neither one in it nor one that a journal beside its database names."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.store.connection import connect

MAGIC = bytes.fromhex("d9d505f920a163d7")
SECTOR = 512


def unfinished(database: Path, *, shared: Path | None = None) -> None:
    """The journal of a transaction that was cut off; `shared` is the file that it shares with other databases."""
    data = database.read_bytes()
    (page,) = struct.unpack(">H", data[16:18])
    journal = (MAGIC + struct.pack(">5I", 0, 0, len(data) // page, SECTOR, page)).ljust(SECTOR, b"\0")
    if shared is not None:
        name = str(shared).encode()
        journal += struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">2I", len(name), sum(name)) + MAGIC
    database.with_name(f"{database.name}-journal").write_bytes(journal)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    path = tmp_path / "run" / "run.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table words (word text)")
    return path


def test_a_journal_that_names_a_file_would_have_it_deleted(database: Path, tmp_path: Path) -> None:
    """What SQLite does by itself, so that the check is about something."""
    victim = tmp_path / "thesis.txt"
    victim.write_text("years of work")
    unfinished(database, shared=victim)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("select * from words").fetchall()
    assert not victim.exists()


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("linked", [True, False])
def test_a_run_with_such_a_journal_is_not_opened(
    database: Path, tmp_path: Path, *, read_only: bool, linked: bool
) -> None:
    victim = tmp_path / "thesis.txt"
    victim.write_text("years of work")
    unfinished(database, shared=victim)
    (tmp_path / "link").symlink_to(database.parent)
    with pytest.raises(StudyError, match="would have SQLite delete another file; nothing was read") as caught:
        connect((tmp_path / "link" if linked else database.parent) / "run.sqlite", read_only=read_only)
    assert "\n" not in str(caught.value)
    assert victim.read_text() == "years of work"


def test_a_run_whose_first_transaction_was_cut_off_is_opened(database: Path) -> None:
    unfinished(database)
    with closing(connect(database)) as connection:
        assert connection.execute("select * from words").fetchall() == []
