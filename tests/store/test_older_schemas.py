"""A run of any older schema reads as it would after it was brought up to date, and stays as it is."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.store.frames import RunFrames
from convergebench.store.journal import Journal
from convergebench.store.queries import examining, exporting, measuring
from convergebench.store.records import Records
from convergebench.store.schema import MIGRATIONS
from convergebench.store.tables import TABLES, AnswerRow
from tests.engine.parts import CASES, CountingEditor, faults, query, walk
from tests.store.older import make_older

FRAMES = ("chains", "steps", "attempts", "spending", "labels", "probes", "anchors")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made") / "run"
    walk(root, CountingEditor(dollars=0.25), rounds=2, cases=CASES[:2])
    assert faults(root, "counting@1") == []
    with closing(Journal(root / "run.sqlite")) as journal:
        journal.commit_now([AnswerRow("a1:x", "judge", "{}", "1", "1", "model", seconds=2.0, dollars=0.5)])
    return root


@pytest.mark.parametrize("schema", range(1, len(MIGRATIONS) + 1))
def test_it_reads_as_after_the_migration_and_stays_as_it_is(made: Path, tmp_path: Path, schema: int) -> None:
    old, new = (shutil.copytree(made, tmp_path / name) for name in ("old", "new"))
    make_older(old, schema)
    shutil.copy(old / "run.sqlite", new / "run.sqlite")
    before = hashlib.sha256((old / "run.sqlite").read_bytes()).hexdigest()
    Journal(new / "run.sqlite").close()
    assert query(new, "pragma user_version") == [(len(MIGRATIONS),)]

    with closing(RunFrames(old)) as read, closing(RunFrames(new)) as migrated:
        for name in FRAMES:
            assert getattr(read, name)().equals(getattr(migrated, name)()), name
        assert read.measurements("strict").equals(migrated.measurements("strict"))
        assert read.chains().height == 2
    with closing(Records(old / "run.sqlite")) as records, closing(Records(new / "run.sqlite")) as migrated_records:
        for row in TABLES.values():
            assert list(records.table(row)) == list(migrated_records.table(row)), row
        assert exporting.content_sha256(records) == exporting.content_sha256(migrated_records)
        assert records.dollars() == migrated_records.dollars() > 0.25
        assert len(list(examining.chain_steps(records))) == 8
        assert len(list(measuring.comparisons_by_source(records))) > 8
    assert hashlib.sha256((old / "run.sqlite").read_bytes()).hexdigest() == before
    assert query(old, "pragma user_version") == [(schema,)]


def test_what_a_question_cost_is_counted_before_and_after(made: Path, tmp_path: Path) -> None:
    """Before schema 5 the price of a question stood with its answer, and in no call's row."""
    old = shutil.copytree(made, tmp_path / "old")
    make_older(old, 4)
    with closing(RunFrames(old)) as frames:
        assert frames.spending().filter(editor="role:judge").row(0)[1:3] == (1, 0.5)


def test_a_file_whose_older_tables_cannot_be_read_is_told_in_one_line(made: Path, tmp_path: Path) -> None:
    old = shutil.copytree(made, tmp_path / "old")
    make_older(old, 4)
    data = bytearray((old / "run.sqlite").read_bytes())
    data[4096 * 2 :] = bytes([255]) * (len(data) - 4096 * 2)
    (old / "run.sqlite").write_bytes(data)
    with pytest.raises(StudyError, match=r"cannot be opened: .*; see: cbench verify"):
        Records(old / "run.sqlite")
