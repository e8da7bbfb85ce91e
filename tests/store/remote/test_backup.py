"""The journal at the store: what is restored is the journal of one moment, and never older than a few seconds."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from convergebench.errors import RunLocked, StudyError
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.records import Records
from convergebench.store.remote import backup, keeper, wal, writer
from convergebench.store.remote.address import parse_address
from convergebench.store.remote.files import RemoteFiles
from convergebench.store.remote.heads import KEPT, head_names
from convergebench.store.remote.restore import Restored, restore
from convergebench.store.run import Run
from convergebench.store.tables import ProbeRow
from convergebench.store.verify import problems
from tests.store.remote.small_run import add, content, eventually

URL = "memory://stores/one"
MANIFEST = Manifest(name="run", study="roundtrip", created="2026-01-01", spec={}, fixed={})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "INTERVAL", 0.02)


def back(tmp_path: Path, url: str = URL, name: str = "back") -> tuple[Path, Restored]:
    out = tmp_path / name
    out.mkdir()
    return out, restore(parse_address(url), out)


def probe(number: int) -> ProbeRow:
    return ProbeRow("editor", f"case-{number}", 1, "lattice", "somebody", number / 7)


def heads(url: str = URL) -> list[str]:
    (names,) = head_names(RemoteFiles(parse_address(url))).values()
    return names


def test_a_closed_run_comes_back_whole(tmp_path: Path, url: str) -> None:
    with Run.create(tmp_path / "run") as run:
        run.keep_at(url)
        run.write(MANIFEST)
        add(run, b"one", b"two")
        run.images.put_crop("evidence/0123.png", b"crop")
        (tmp_path / "run" / "rubrics").mkdir()
        (tmp_path / "run" / "rubrics" / "mine.toml").write_text("question = 1")
    assert not run.not_stored
    out, found = back(tmp_path, url)
    assert content(out) == content(tmp_path / "run")
    assert (found.run, found.images, found.missing, found.passed_over) == ("run", 2, (), ())
    assert read_manifest(out / "manifest.json") == MANIFEST
    assert (out / "evidence" / "0123.png").read_bytes() == b"crop"
    assert (out / "rubrics" / "mine.toml").read_text() == "question = 1"
    assert problems(out) == []
    assert not list((out / "images").glob("*/*")), "images are fetched when they are needed"


@pytest.mark.parametrize("seed", range(2))
def test_at_any_moment_a_whole_journal_comes_back(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large and small commits, roll-backs, readers that keep the log, moves of the log, new bases, all by chance."""
    monkeypatch.setattr(wal, "LARGE", 60_000)
    monkeypatch.setattr(backup, "MOST_PARTS", 7)
    dice, states, number = random.Random(seed), [], 0
    readers: list[Records] = []
    with Run.create(tmp_path / "run") as run:
        run.keep_at(URL)
        for turn in range(60):
            rows = [probe(number + more) for more in range(dice.choice([1, 1, 5, 200]))]
            number += len(rows)
            run.journal.commit_now(rows)
            states.append(number)
            if dice.random() < 0.2:
                with pytest.raises(ZeroDivisionError):
                    run.journal.rewrite(rolled_back)
            if dice.random() < 0.2:
                readers.append(Records(tmp_path / "run" / "run.sqlite"))
                readers[-1].freeze()
                assert readers[-1].dollars() == 0
            if readers and dice.random() < 0.3:
                readers.pop(0).close()
            if turn % 10 == 9:
                eventually(lambda: heads_of_store())
                out, _ = back(tmp_path, name=f"back-{turn}")
                assert len(content(out)) in states, "a moment between two commits"
                assert problems_of_database(out) == []
            time.sleep(dice.choice([0, 0, 0.03]))
        for reader in readers:
            reader.close()
    out, _ = back(tmp_path)
    assert content(out) == content(tmp_path / "run")
    assert len(heads()) <= KEPT + 1


def rolled_back(connection: sqlite3.Connection) -> None:
    connection.execute("pragma cache_size = 2")  # so that pages are written before the end
    connection.executemany(
        "insert into anchors values (?, 'noise', 'm', 'f', 1, 'ok', '')", [(f"{n}" * 50,) for n in range(500)]
    )
    connection.execute("pragma cache_size = -65536")
    raise ZeroDivisionError


def is_at_store(number: int) -> bool:
    """Whether the newest backup has this row."""
    if not heads_of_store():
        return False
    with tempfile.TemporaryDirectory() as folder:
        restore(parse_address(URL), Path(folder))
        return f"case-{number}" in str(content(Path(folder)))


def heads_of_store() -> dict[str, list[str]]:
    return head_names(RemoteFiles(parse_address(URL)))


def problems_of_database(out: Path) -> list[str]:
    return [line for line in problems(out) if "manifest.json is missing" not in line]


def test_when_another_program_resets_the_log_the_backup_begins_anew(tmp_path: Path) -> None:
    with Run.create(tmp_path / "run") as run:
        run.keep_at(URL)
        run.journal.commit_now([probe(1)])
        eventually(lambda: heads_of_store())
        for number in range(2, 6):
            run.journal.commit_now([probe(number)])
            with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as other:
                other.execute("pragma wal_checkpoint(truncate)").fetchone()
    out, _ = back(tmp_path)
    assert content(out) == content(tmp_path / "run")


def test_a_head_is_not_written_before_its_images_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, real = threading.Event(), RemoteFiles.write

    def write(self: RemoteFiles, name: str, data: bytes) -> None:
        if name.startswith("images/"):
            assert held.wait(20)
        real(self, name, data)

    monkeypatch.setattr(RemoteFiles, "write", write)
    with Run.create(tmp_path / "run") as run:
        run.keep_at(URL)
        run.journal.commit_now([probe(1)])
        eventually(lambda: is_at_store(1))
        add(run, b"one")
        run.journal.commit_now([probe(2)])
        time.sleep(0.5)
        assert not is_at_store(2), "its image is still on its way"
        held.set()
        eventually(lambda: is_at_store(2))
    assert back(tmp_path)[1].missing == ()


def test_a_damaged_backup_is_passed_over_for_the_one_before(tmp_path: Path) -> None:
    with Run.create(tmp_path / "run") as run:
        run.keep_at(URL)
        for number in range(3):
            run.journal.commit_now([probe(number)])
            eventually(lambda number=number: is_at_store(number))  # type: ignore[misc]
    files = RemoteFiles(parse_address(URL))
    newest, second, *_ = heads()
    last_log = json.loads(files.read(newest) or b"")["parts"][-1]
    assert last_log not in str(files.read(second))
    folder = newest.rpartition("/")[0]
    files.write(f"{folder}/pieces/{last_log}", zlib.compress(json.dumps("other bytes").encode()))
    out, found = back(tmp_path)
    assert len(found.passed_over) == 1
    assert "is damaged" in found.passed_over[0]
    assert content(out) == content(tmp_path / "run")[:-1]
    files.write(second, (files.read(second) or b"").replace(b'"run": "run"', b'"run": "ran"'))
    assert len(content(back(tmp_path, name="earlier")[0])) == 1, "a head that was changed does not count"
    for name in heads():
        files.write(name, b"{}")
    with pytest.raises(StudyError, match="no backup of a journal that can be read"):
        back(tmp_path, name="none")
    files.remove("store.json")
    with pytest.raises(StudyError, match="is not the store of a run"):
        back(tmp_path, name="nothing")


def test_sessions_share_what_has_not_changed_and_old_pieces_go(tmp_path: Path) -> None:
    with Run.create(tmp_path / "run") as run:
        run.keep_at(URL)
        run.journal.commit_now([probe(number) for number in range(2000)])
    for session in range(KEPT + 3):
        with Run(tmp_path / "run") as run:
            run.journal.commit_now([probe(10_000 + session)])
    files = RemoteFiles(parse_address(URL))
    folder = heads()[0].rpartition("/")[0]
    kept = len(files.sizes(f"{folder}/pieces"))
    assert kept < 6 * (KEPT + 2), "pieces that no kept backup needs are removed"
    out, _ = back(tmp_path)
    assert content(out) == content(tmp_path / "run")


def test_two_folders_do_not_write_one_store_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Run.create(tmp_path / "run") as run:
        run.keep_at(URL)
        add(run, b"one")
        eventually(lambda: heads_of_store())
        other, _ = back(tmp_path)
        with pytest.raises(RunLocked, match="is being written from another folder"):
            Run(other)
        monkeypatch.setattr(writer, "SILENT", 0.0)  # the first has been silent for long
        monkeypatch.setattr(keeper, "EVERY", 0.05)
        with Run(other) as second:
            (file,) = add(second, b"two")
            eventually(lambda: run._keeper is not None and run._keeper._fault)
            with pytest.raises(StudyError, match="is written from another folder now"):
                run.images.read(file)
    assert "is written from another folder now" in run.not_stored
    out, found = back(tmp_path, name="again")
    assert content(out) == content(other), "the newer writer counts"
    assert found.images >= 1


DRIVER = """
import sys
from pathlib import Path
from convergebench.store.remote import keeper
from convergebench.store.run import Run
from tests.store.remote.small_run import add

keeper.INTERVAL = 0.05
with Run.create(Path(sys.argv[1])) as run:
    run.keep_at(sys.argv[2])
    for number in range(100_000):
        add(run, b"image %d" % number)
        print(number, flush=True)
"""


def test_after_a_kill_and_the_loss_of_the_disk_only_the_last_moments_are_gone(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store"
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path / "run"), url], stdout=subprocess.PIPE, text=True
    )
    assert driver.stdout is not None
    try:
        begun = time.monotonic()
        while time.monotonic() - begun < 3 or not list((tmp_path / "store").glob("journal/*/head-*")):
            done = int(driver.stdout.readline())
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        driver.stdout.close()
    out, found = back(tmp_path, url)
    assert found.missing == ()
    assert 0 < found.images <= done + 2
    assert problems_of_database(out) == []
    lost = done - found.images
    with Run(tmp_path / "run") as run:  # the folder itself has lost nothing, and brings the rest to the store
        assert len(run.journal.images()) >= done
    _, again = back(tmp_path, url, "again")
    assert again.images >= done
    assert again.missing == ()
    assert lost < done, "most of it was at the store already"
