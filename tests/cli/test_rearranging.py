"""`cbench rename` and `cbench merge`: what a run says stays the same, and every other command still works on it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import convergebench as cb
from convergebench.conductor.rearranging import rename
from convergebench.store.lock import RunLock
from convergebench.store.manifest import read_manifest
from convergebench.store.run import Run
from convergebench.store.verify import problems
from tests.api.parts import PICTURES, picture, quick_run
from tests.cli.in_process import Done, cbench

MODEL = {"name": "sim-model", "use": "sim-jpeg", "quality": 60}
NEXT = {**MODEL, "name": "sim-next"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    quick_run(root / "model", MODEL)
    quick_run(root / "next", NEXT)
    quick_run(root / "blur", "sim-blur")
    quick_run(root / "both", MODEL, "sim-blur")
    return root


@pytest.fixture
def own(runs: Path, tmp_path: Path) -> Callable[[str], Path]:
    def copy(name: str) -> Path:
        return Path(shutil.copytree(runs / name, tmp_path / name))

    return copy


def refused(done: Done, *words: str) -> None:
    assert done.code == 2
    assert done.err.count("\n") == 1, done.err
    assert all(word in done.err for word in words), done.err


def rows(run: Path, *, without: tuple[str, ...] = ("started", "seconds", "model")) -> dict[str, list[tuple[Any, ...]]]:
    """Every table, without what differs from one making to the next."""
    found = {}
    with sqlite3.connect(run / "run.sqlite") as base:
        for (table,) in base.execute("select name from sqlite_master where type = 'table'").fetchall():
            columns = [name for _, name, *_ in base.execute(f"pragma table_info({table})") if name not in without]
            listed = ", ".join(f'"{name}"' for name in columns)
            found[table] = sorted(base.execute(f"select {listed} from {table}").fetchall(), key=repr)
    return found


def test_a_renamed_editor_is_as_if_it_had_had_that_name_from_the_start(runs: Path, own: Callable[[str], Path]) -> None:
    run = own("model")
    assert cbench("rename", run, "sim-model", "sim-next").code == 0
    assert rows(run) == rows(runs / "next"), "every key and every cell"
    assert cbench("verify", run).code == 0
    now, fresh = read_manifest(run / "manifest.json"), read_manifest(runs / "next" / "manifest.json")
    assert now.editors == fresh.editors
    assert now.spec["editors"] == fresh.spec["editors"]
    assert now.sessions[-1]["renamed"] == {"sim-model": "sim-next"}
    assert cb.load(run).ranking.equals(cb.load(runs / "next").ranking)


def test_a_renamed_run_goes_on_without_asking_again(own: Callable[[str], Path]) -> None:
    run = own("model")
    assert cbench("rename", run, "sim-model", "sim-next").code == 0
    before = rows(run)
    quick_run(run, NEXT)
    assert rows(run) == before, "nothing was called or measured again"
    quick_run(run, NEXT, rounds=3)
    assert set(before["steps"]) < set(rows(run)["steps"])
    assert set(before["measurements"]) < set(rows(run)["measurements"])
    with pytest.raises(cb.errors.StudyError, match="'sim-model' under the name 'sim-next' since it was renamed"):
        quick_run(run, MODEL)
    assert cbench("report", run, "--plots", "none").code == 0


def test_names_that_cannot_be_are_refused(own: Callable[[str], Path]) -> None:
    run = own("both")
    before = (run / "manifest.json").read_bytes(), rows(run)
    refused(cbench("rename", run, "sim-modl", "x"), "no editor 'sim-modl'", "did you mean 'sim-model'")
    refused(cbench("rename", run, "sim-model", "sim-blur"), "has an editor 'sim-blur' already")
    refused(cbench("rename", run, "sim-model", "gpt"), "name starts with 'sim-'", "sim-gpt")
    refused(cbench("rename", run, "sim-model", "sim-model"), "already")
    refused(cbench("rename", run, "sim-model", "  "), "no name for an editor")
    refused(cbench("rename", run, "sim-model", "sim-\x1b[31m"), "choose another name")
    refused(cbench("rename", run / "nowhere", "a", "b"), "is not a run")
    (run / "rating").mkdir()
    (run / "rating" / "first.sqlite").touch()
    refused(cbench("rename", run, "sim-model", "sim-next"), "people rate")
    assert before == ((run / "manifest.json").read_bytes(), rows(run))


@pytest.mark.parametrize("kills", [1, 2])
def test_a_rename_that_is_killed_leaves_a_sound_run_and_goes_on(
    own: Callable[[str], Path], runs: Path, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    run, writes, write = own("model"), [], Run.write

    def dying(self: Run, manifest: Any) -> None:
        writes.append(manifest)
        if kills == 2 and len(writes) == 2:
            raise KeyboardInterrupt
        write(self, manifest)
        if kills == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Run, "write", dying)
        with pytest.raises(KeyboardInterrupt):
            rename(run, "sim-model", "sim-next")
    assert problems(run) == []
    assert cbench("rename", run, "sim-model", "sim-next").code == 0
    assert rows(run) == rows(runs / "next")
    assert list(read_manifest(run / "manifest.json").editors) == ["sim-next"]


def test_a_run_that_is_being_written_is_neither_renamed_nor_merged(
    own: Callable[[str], Path], runs: Path, tmp_path: Path
) -> None:
    run = own("model")
    lock = RunLock(run / "run.lock")
    lock.acquire()
    try:
        refused(cbench("rename", run, "sim-model", "sim-next"), "is being written by")
        refused(cbench("merge", run, runs / "blur", "--into", tmp_path / "m"), "is being written by")
    finally:
        lock.release()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"], "nothing half-written"


def test_two_editors_of_two_runs_merge_into_what_one_run_would_be(runs: Path, tmp_path: Path) -> None:
    before = rows(runs / "model"), rows(runs / "blur")
    done = cbench("merge", runs / "model", runs / "blur", "--into", tmp_path / "m")
    assert done.code == 0, done.err
    assert "6 chains of 2 runs" in done.out
    assert rows(tmp_path / "m") == rows(runs / "both")
    assert (rows(runs / "model"), rows(runs / "blur")) == before
    assert cb.load(tmp_path / "m").ranking.equals(cb.load(runs / "both").ranking)
    for words in (("verify",), ("report", "--plots", "none"), ("measure", "--metric", "psnr"),
                  ("export", "--as", "imagefolder", "--out", tmp_path / "set")):  # fmt: skip
        assert cbench(words[0], tmp_path / "m", *words[1:]).code == 0, words
    called = len(rows(tmp_path / "m")["attempts"])
    quick_run(tmp_path / "m", MODEL, "sim-blur")
    assert len(rows(tmp_path / "m")["attempts"]) == called, "going on calls nothing"


def test_chains_that_both_runs_have_are_kept_once_and_the_longer_wins(
    runs: Path, own: Callable[[str], Path], tmp_path: Path
) -> None:
    longer = own("model")
    quick_run(longer, MODEL, rounds=3)
    for place, order in enumerate(((runs / "model", longer), (longer, runs / "model"))):
        done = cbench("merge", *order, "--into", tmp_path / f"m{place}")
        assert done.code == 0, done.err
        assert "3 chains of 2 runs, 3 of them in more than one run" in done.out
        assert rows(tmp_path / f"m{place}", without=("started", "seconds", "model", "plan")) == rows(
            longer, without=("started", "seconds", "model", "plan")
        )


def test_money_is_kept_a_call_that_was_paid_twice_counts_twice(
    runs: Path, own: Callable[[str], Path], tmp_path: Path
) -> None:
    one = own("model")
    other = Path(shutil.copytree(one, tmp_path / "again"))
    for run, dollars, outcome in ((one, 0.04, "unknown"), (other, 0.05, "ok")):
        with sqlite3.connect(run / "run.sqlite") as base:
            base.execute("update attempts set dollars = ?, outcome = ?", (dollars, outcome))
    calls = len(rows(one)["attempts"])
    assert cbench("merge", one, other, "--into", tmp_path / "m").code == 0
    with sqlite3.connect(tmp_path / "m" / "run.sqlite") as base:
        ((spent, number),) = base.execute("select sum(dollars), count(*) from attempts").fetchall()
    assert number == 2 * calls
    assert spent == pytest.approx(calls * 0.09)
    assert cbench("merge", one, tmp_path / "m", "--into", tmp_path / "m2").code == 0
    with sqlite3.connect(tmp_path / "m2" / "run.sqlite") as base:
        assert base.execute("select count(*) from attempts").fetchone()[0] == 2 * calls, "the same row is the same call"


def test_what_contradicts_is_refused_in_one_line_and_leaves_nothing(
    runs: Path, own: Callable[[str], Path], tmp_path: Path
) -> None:
    into = tmp_path / "m"
    quick_run(tmp_path / "other", {**MODEL, "quality": 20})
    refused(cbench("merge", runs / "model", tmp_path / "other", "--into", into), "editor sim-model", "cbench rename")
    quick_run(tmp_path / "pictures", "sim-blur", images={**PICTURES, "p0": picture(9)})
    refused(cbench("merge", runs / "model", tmp_path / "pictures", "--into", into), "source p0")
    changed = own("model")
    with sqlite3.connect(changed / "run.sqlite") as base:
        base.execute(
            "update steps set image = (select image from cases limit 1) where id = (select max(id) from steps)"
        )
    refused(cbench("merge", runs / "model", changed, "--into", into), "has other content in each", "sim-model on")
    damaged = own("blur")
    shared = {path.name for path in (runs / "model" / "images").glob("*/*")}
    own_image = min(path for path in (damaged / "images").glob("*/*") if path.name not in shared)
    own_image.write_bytes(b"no")  # of what both have, the whole one is taken
    refused(cbench("merge", runs / "model", damaged, "--into", into), "has changed since it was stored")
    refused(cbench("merge", runs / "model", "--into", into), "at least two runs")
    refused(cbench("merge", runs / "model", runs / "model", "--into", into), "named twice")
    refused(cbench("merge", runs / "model", runs / "blur", "--into", tmp_path / "other"), "is not empty")
    refused(cbench("merge", runs / "model", runs / "blur", "--into", runs / "model" / "m"), "lies in")
    assert not into.exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_imported_runs_are_renamed_and_merged(tmp_path: Path, runs: Path) -> None:
    for name, run in (("one", "model"), ("two", "blur")):
        assert cbench("export", runs / run, "--as", "imagefolder", "--out", tmp_path / f"{name}-set").code == 0
        done = cbench("import", tmp_path / f"{name}-set", "--run", tmp_path / name)
        assert done.code == 0, done.err
    (old,) = read_manifest(tmp_path / "two" / "manifest.json").editors
    assert cbench("rename", tmp_path / "two", old, "sim-better-name").code == 0
    manifest = json.loads((tmp_path / "two" / "manifest.json").read_text())
    assert all(name.startswith("sim-better-name/") for name in manifest["recordings"])
    assert cbench("merge", tmp_path / "one", tmp_path / "two", "--into", tmp_path / "m").code == 0
    assert cbench("verify", tmp_path / "m").code == 0
    assert set(read_manifest(tmp_path / "m" / "manifest.json").editors) == {"sim-model", "sim-better-name"}
    assert cbench("measure", tmp_path / "m", "--metric", "ssim").code == 0
