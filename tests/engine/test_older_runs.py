"""A run that was written before steps told what was used: it is read as it is, lent from, and gone on with."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from convergebench.store.frames import RunFrames
from convergebench.store.images import ImageStore
from convergebench.store.records import Records
from convergebench.store.schema import M001, MIGRATIONS
from tests.engine.parts import CASES, CountingEditor, faults, query, walk


def version_of(root: Path) -> int:
    return int(query(root, "pragma user_version")[0][0])


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A finished run in the first schema: every row as it was, seeds everywhere, nothing about what was used."""
    root = tmp_path / "older"
    walk(root, CountingEditor(), rounds=2)
    newer = sqlite3.connect(root / "run.sqlite")
    newer.execute("pragma journal_mode = delete")
    tables = {
        name: newer.execute(f"select * from {name}").fetchall()
        for (name,) in newer.execute("select name from sqlite_master where type = 'table'").fetchall()
    }
    newer.close()
    (root / "run.sqlite").unlink()
    old = sqlite3.connect(root / "run.sqlite")
    old.executescript(f"{M001}pragma user_version = 1;")
    for name, rows in tables.items():
        if name == "steps":
            rows = [(*row[:5], 7, *row[6:11]) for row in rows]
        if name == "attempts":
            rows = [row[:10] for row in rows]
        if name == "cases":
            rows = [row[:7] for row in rows]
        if rows:
            old.executemany(f"insert into {name} values ({','.join('?' * len(rows[0]))})", rows)
    old.commit()
    old.close()
    return root


def test_it_is_read_and_verified_without_being_changed(older: Path) -> None:
    assert faults(older, "counting@1") == []
    frames = RunFrames(older)
    steps = frames.steps()
    frames.close()
    assert steps.height == len(CASES) * 5
    assert steps["used"].null_count() == steps.height
    assert version_of(older) == 1


def test_it_goes_on_without_paying_again_and_loses_no_row(older: Path) -> None:
    before = query(older, "select id, seed, image from steps order by id")
    editor = CountingEditor()
    summary, _, _ = walk(older, editor, rounds=3)
    assert summary.statuses == {"finished": len(CASES)}
    assert editor.calls == len(CASES) * 2, "only the third round"
    assert version_of(older) == len(MIGRATIONS)
    after = query(older, "select id, seed, image from steps order by id")
    assert set(before) < set(after)
    assert faults(older, "counting@1") == []


def test_it_lends_its_steps_to_a_new_run_and_stays_as_it_is(older: Path, tmp_path: Path) -> None:
    editor = CountingEditor()
    records = Records(older / "run.sqlite")
    summary, _, _ = walk(tmp_path / "new", editor, rounds=2, reuse=[(records, ImageStore(older))])
    records.close()
    assert (summary.statuses, editor.calls) == ({"finished": len(CASES)}, 0)
    assert faults(tmp_path / "new", "counting@1") == []
    assert version_of(older) == 1
