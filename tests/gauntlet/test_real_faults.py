"""Faults that are not simulated: processes that are really killed, and a file that really cannot grow."""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.measuring.measure import measure
from convergebench.store.run import Run
from tests.engine.parts import CountingEditor, faults, query, walk
from tests.engine.test_survival import REPOSITORY, TABLES, billed, images, start

STUDY = """
editors = ["sim-noise"]
[roundtrip]
rounds = 12
[images]
suite = "pictures"
[edits]
pairs = ["red-ball"]
[measure]
metrics = ["rmse"]
"""


def test_a_file_that_cannot_grow_stops_a_run_that_then_goes_on(tmp_path: Path) -> None:
    """RLIMIT_FSIZE: the journal's log reaches the limit, as it would the end of a disk."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    root, calls = tmp_path / "run", tmp_path / "calls.txt"
    command = [sys.executable, "-m", "tests.engine.survivor", str(root), str(calls)]
    stopped = subprocess.run(command, cwd=REPOSITORY, preexec_fn=limited, capture_output=True, text=True, timeout=120)
    assert stopped.returncode != 0
    assert "what was written before is safe" in stopped.stderr
    assert faults(root, "recorded@1") == []
    (kept,), (counted,) = (
        query(root, "select count(*) from steps")[0],
        query(root, "select sum(dollars) from attempts")[0],
    )
    assert 0 < kept < 72
    assert counted >= billed(calls)
    assert start(root, calls).wait(timeout=120) == 0
    calm = tmp_path / "calm"
    assert start(calm, tmp_path / "calm.txt").wait(timeout=120) == 0
    for table, text in TABLES.items():
        assert query(root, text) == query(calm, text), table
    assert images(root) == images(calm)


def test_a_scoring_process_that_is_killed_loses_no_score(tmp_path: Path) -> None:
    """As the kernel does it when memory runs out."""
    walk(tmp_path / "run", CountingEditor(), rounds=2)
    shutil.copytree(tmp_path / "run", tmp_path / "calm")
    done = threading.Event()

    def kill_one() -> None:
        while not done.is_set():
            for child in multiprocessing.active_children():
                if child.pid is not None:
                    os.kill(child.pid, signal.SIGKILL)
                    return
            time.sleep(0.01)

    killer = threading.Thread(target=kill_one)
    killer.start()
    try:
        with (
            Run.create(tmp_path / "run") as run,
            pytest.raises(StudyError, match="a measuring process was killed"),
        ):
            measure(run, ["rmse"], align_mode="strict", workers=2)
    finally:
        done.set()
        killer.join()
    for name in ("run", "calm"):
        with Run.create(tmp_path / name) as run:
            measure(run, ["rmse"], align_mode="strict", workers=1)
    scores = [query(tmp_path / name, TABLES["measurements"]) for name in ("run", "calm")]
    assert scores[0] == scores[1] != []


@pytest.mark.slow
def test_the_command_itself_killed_again_and_again_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    from tests.engine.audited_run import make_suite

    make_suite(tmp_path / "pictures")
    (tmp_path / "study.toml").write_text(STUDY)

    def run(name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "convergebench.cli.main", "run", "study.toml", "--run", name]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    assert run("calm").wait(timeout=300) == 0
    kills, goal = 0, 5
    while True:
        process = run("hunted")
        while process.poll() is None and _steps(tmp_path / "hunted") < goal:
            time.sleep(0.001)
        if process.poll() is not None:
            assert process.returncode == 0
            break
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
        goal += 10
    assert kills >= 3
    for table, text in TABLES.items():
        assert query(tmp_path / "hunted", text) == query(tmp_path / "calm", text), table
    assert images(tmp_path / "hunted") == images(tmp_path / "calm")


def _steps(root: Path) -> int:
    try:
        return int(query(root, "select count(*) from steps")[0][0])
    except Exception:  # there is none yet
        return 0
