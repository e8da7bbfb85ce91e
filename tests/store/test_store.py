"""The run directory: whole files, durable rows, one writer."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from convergebench.errors import ChangedMeaning, RunLocked, StudyError
from convergebench.ids import comparison_id, image_id, step_id
from convergebench.store.images import ImageStore, write_synced
from convergebench.store.journal import Journal
from convergebench.store.manifest import Manifest, grow, read_manifest, write_manifest
from convergebench.store.records import Records
from convergebench.store.run import Run
from convergebench.store.schema import MIGRATIONS
from convergebench.store.tables import CaseRow, ChainStepRow, ComparisonRow, ImageRow, ProbeRow, StepRow
from convergebench.store.verify import problems

MANIFEST = Manifest(
    name="run",
    study="roundtrip",
    created="2026-01-01",
    spec={"roundtrip": {"rounds": 5}},
    fixed={"seed": 0},
    sources={"a": {"sha256": "11", "kind": "face"}},
    pairs={"glasses": {"forward": "add glasses"}},
    editors={"sim-jpeg": {"fingerprint": "sim-jpeg@1:00"}},
    metrics={"psnr": "psnr@1:00"},
)


def test_an_image_is_found_under_the_hash_of_its_bytes(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    identity = store.put(b"bytes as received", "image/png")
    assert identity == image_id(b"bytes as received")
    assert store.read(store.file_of(identity, "image/png")) == b"bytes as received"


def test_equal_bytes_are_stored_once(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    store.put(b"same", "image/png")
    path = tmp_path / store.file_of(image_id(b"same"), "image/png")
    before = path.stat().st_mtime_ns
    store.put(b"same", "image/png")
    assert path.stat().st_mtime_ns == before


def test_a_failed_write_leaves_no_file_and_no_debris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_synced(tmp_path / "images" / "x.png", b"data")
    assert list((tmp_path / "images").iterdir()) == []


def test_leftovers_of_a_killed_process_are_swept(tmp_path: Path) -> None:
    folder = tmp_path / "images" / "ab"
    folder.mkdir(parents=True)
    (folder / ".part-123").write_bytes(b"half")
    assert ImageStore(tmp_path).sweep() == 1
    assert list(folder.iterdir()) == []


def test_rows_are_there_when_commit_returns(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.sqlite")
    asyncio.run(journal.commit([ImageRow("i1:x", "f", "image/png", 1, 1, 1)]))
    other = sqlite3.connect(tmp_path / "run.sqlite")
    assert other.execute("select count(*) from images").fetchone() == (1,)
    other.close()
    journal.close()


def test_commits_that_come_together_are_one_transaction(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.sqlite")

    async def many() -> None:
        await asyncio.gather(*(journal.commit([ImageRow(f"i1:{n}", "f", "image/png", 1, 1, 1)]) for n in range(200)))

    asyncio.run(many())
    assert len(list(journal.query("select id from images"))) == 200
    assert journal.commits < 100
    journal.close()


def test_after_a_failed_commit_nobody_is_told_that_a_row_was_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.sqlite")
    journal.commit_now([ImageRow("i1:kept", "f", "image/png", 1, 1, 1)])
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as other:  # somebody breaks the file under its writer
        other.execute("drop table probes")
    lost = ImageRow("i1:lost", "f", "image/png", 1, 1, 1)
    with pytest.raises(StudyError, match="what was written before is safe"):
        journal.commit_now([lost, ProbeRow("e", "c", 1, "p", "b", 0.5)])
    with pytest.raises(StudyError, match=r"could not write to .* run the same command again"):
        journal.commit_now([ImageRow("i1:later", "f", "image/png", 1, 1, 1)])
    journal.close()
    again = Journal(tmp_path / "run.sqlite")
    assert list(again.query("select id from images")) == [("i1:kept",)]
    again.close()


def test_a_disk_that_is_full_when_a_run_is_begun_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(connection: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("convergebench.store.journal.migrate", full)
    with pytest.raises(StudyError, match=r"run\.sqlite: database or disk is full; what was written before is safe"):
        Run.create(tmp_path / "run")
    monkeypatch.undo()
    Run.create(tmp_path / "run").close()


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    connection.execute(f"pragma user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(StudyError, match="pip install -U convergebench"):
        Journal(tmp_path / "run.sqlite")


def test_two_processes_cannot_write_one_run(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from convergebench.store.run import Run; Run.create(Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run")]
    with Run.create(tmp_path / "run"):
        second = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert "RunLocked" in second.stderr
        assert f"process {os.getpid()}" in second.stderr
        with pytest.raises(RunLocked):
            Run.create(tmp_path / "run")
    Run.create(tmp_path / "run").close()


def test_a_folder_with_other_files_is_not_taken_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(StudyError, match="name a new folder"):
        Run.create(tmp_path)


def test_the_manifest_survives_a_round_trip(tmp_path: Path) -> None:
    write_manifest(tmp_path / "manifest.json", MANIFEST)
    assert read_manifest(tmp_path / "manifest.json") == MANIFEST


def test_a_run_of_the_first_format_gets_the_intervals_of_today(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    write_manifest(path, replace(MANIFEST, spec={"analysis": {"interval": "percentile", "seed": 3}}))
    assert read_manifest(path).spec["analysis"] == {"interval": "percentile", "seed": 3}, "as asked for today"
    old = json.loads(path.read_text()) | {"format": 1}
    path.write_text(json.dumps(old))
    assert read_manifest(path).spec["analysis"] == {"seed": 3}


@pytest.mark.parametrize(
    "more",
    [
        {"sources": {"b": {"sha256": "22", "kind": "scene"}}},
        {"pairs": {"hat": {"forward": "add hat"}}},
        {"editors": {"sim-blur": {"fingerprint": "sim-blur@1:00"}}},
        {"metrics": {"ssim": "ssim@1:00"}},
        {"spec": {"roundtrip": {"rounds": 20}}},
    ],
)
def test_growing_goes_on(more: dict[str, Any]) -> None:
    grown = grow(MANIFEST, replace(MANIFEST, **more))
    (what,) = more
    assert {**getattr(MANIFEST, what), **more[what]} == getattr(grown, what)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sources": {"a": {"sha256": "99", "kind": "face"}}}, "source a, sha256: 11 → 99"),
        ({"pairs": {"glasses": {"forward": "add specs"}}}, "pair glasses, forward: add glasses → add specs"),
        ({"editors": {"sim-jpeg": {"fingerprint": "sim-jpeg@2:00"}}}, "sim-jpeg@1:00 → sim-jpeg@2:00"),
        ({"metrics": {"psnr": "psnr@2:00"}}, "metric psnr: psnr@1:00 → psnr@2:00"),
        ({"fixed": {"seed": 1}}, "setting seed: 0 → 1"),
        ({"study": "replicate"}, "study: roundtrip → replicate"),
    ],
)
def test_a_changed_meaning_stops_and_shows_the_difference(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ChangedMeaning, match="use another --run") as caught:
        grow(MANIFEST, replace(MANIFEST, **change))
    assert message in str(caught.value)


def test_verify_notices_a_changed_image(tmp_path: Path) -> None:
    with Run.create(tmp_path / "run") as run:
        run.extend(MANIFEST)
        identity = run.images.put(b"picture", "image/png")
        file = run.images.file_of(identity, "image/png")
        run.journal.commit_now([ImageRow(identity, file, "image/png", 1, 1, 7)])
    assert problems(tmp_path / "run") == []
    (tmp_path / "run" / file).write_bytes(b"forgery")
    assert problems(tmp_path / "run") == [f"{file} has changed since it was stored"]
    (tmp_path / "run" / file).unlink()
    assert problems(tmp_path / "run") == [f"{file} is missing"]


def sound_run(root: Path) -> str:
    """A run of one step; returns the step's key."""
    with Run.create(root) as run:
        run.extend(MANIFEST)
        identity = run.images.put(b"picture", "image/png")
        key = step_id(parent=identity, instruction="add", settings={}, fingerprint="sim-jpeg@1:00", replicate=0)
        compared = comparison_id(
            editor="sim-jpeg", case="a/glasses/0", subject=key, reference=identity, role="step", lag=0
        )
        run.journal.commit_now(
            [
                ImageRow(identity, run.images.file_of(identity, "image/png"), "image/png", 1, 1, 7),
                CaseRow("a/glasses/0", "a", identity, "face", "glasses", "accessories", 0),
                StepRow(key, identity, "sim-jpeg", "add", "{}", 0, 0, "ok", identity, "", None, None, 0),
                ChainStepRow("sim-jpeg", "a/glasses/0", 1, key),
                ComparisonRow(compared, "sim-jpeg", "a/glasses/0", "step", 1, 1, 0, identity, identity, None, None),
            ]
        )
    assert problems(root) == []
    return key


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("update steps set instruction = 'add a hat'", "has a different history than its key says"),
        ("update comparisons set lag = 1", "has other content than its key says"),
        ("update comparisons set role = 'return'", "has other content than its key says"),
        ("update steps set replicate = 1", "has a different history than its key says"),
        ("update steps set editor = 'nobody'", "is by 'nobody', which is not in the manifest"),
        ("update steps set image = null", "1 steps without their image"),
        ("update comparisons set reference = 'i1:gone'", "1 comparisons without an image"),
        ("update cases set image = 'i1:gone'", "1 cases without their image"),
    ],
)
def test_verify_notices_what_was_changed_in_the_journal(tmp_path: Path, damage: str, message: str) -> None:
    sound_run(tmp_path / "run")
    connection = sqlite3.connect(tmp_path / "run" / "run.sqlite")
    connection.execute(damage)
    connection.commit()
    connection.close()
    (found,) = problems(tmp_path / "run")
    assert message in found


@pytest.mark.parametrize("file", ["run.sqlite", "manifest.json"])
def test_verify_names_a_file_that_is_garbage(tmp_path: Path, file: str) -> None:
    sound_run(tmp_path / "run")
    (tmp_path / "run" / file).write_bytes(b"garbage" * 1000)
    (found,) = problems(tmp_path / "run")
    assert file in found
    assert "\n" not in found


def test_another_runs_records_are_read_and_never_written(tmp_path: Path) -> None:
    key = sound_run(tmp_path / "run")
    before = (tmp_path / "run" / "run.sqlite").read_bytes()
    with Run.existing(tmp_path / "run"):  # somebody is writing it
        records = Records(tmp_path / "run" / "run.sqlite")
        found = records.step(key)
        assert found is not None
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            list(records.query("delete from steps"))
        records.close()
    assert (tmp_path / "run" / "run.sqlite").read_bytes() == before


def test_an_image_that_cannot_be_stored_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "images").write_text("a file where the folder should be")
    with pytest.raises(StudyError, match="what was stored is safe") as caught:
        ImageStore(tmp_path).put(b"picture", "image/png")
    assert "\n" not in str(caught.value)
