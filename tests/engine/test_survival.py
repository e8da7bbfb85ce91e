"""Killed at random moments, again and again, a run ends up as if nothing had happened."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.engine.parts import faults, query
from tests.engine.survivor import AT_ONCE, CASES, ROUNDS

REPOSITORY = Path(__file__).parents[2]
TABLES = {
    "steps": "select id, parent, instruction, seed, status, image from steps order by id",
    "chains": 'select editor, "case", status, rounds from chains order by 1, 2',
    "positions": "select * from chain_steps order by 1, 2, 3",
    "comparisons": "select * from comparisons order by id",
    "measurements": "select * from measurements order by 1, 2, 3, 4",
}


def start(root: Path, calls: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "tests.engine.survivor", str(root), str(calls)], cwd=REPOSITORY)


def images(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in (root / "images").rglob("*.png")}


def billed(calls: Path) -> int:
    return len(calls.read_text().splitlines())


def test_a_run_killed_many_times_equals_an_undisturbed_one(tmp_path: Path) -> None:
    calm = tmp_path / "calm"
    assert start(calm, tmp_path / "calm.txt").wait(timeout=60) == 0

    hunted, calls = tmp_path / "hunted", tmp_path / "hunted.txt"
    calls.touch()
    randomness, kills = random.Random(7), 0
    while not (hunted / "finished").exists():
        process = start(hunted, calls)
        goal = billed(calls) + randomness.randint(1, 12)
        while process.poll() is None and billed(calls) < goal:
            time.sleep(0.0005)
        if process.poll() is None and billed(calls) >= goal:
            time.sleep(randomness.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
            (kept,) = query(hunted, "select count(*) from steps")[0]
            assert billed(calls) - kept <= AT_ONCE * kills
            (counted,) = query(hunted, "select sum(dollars) from attempts")[0]
            assert counted >= billed(calls), "every call that was billed is counted, answered or not"

    assert kills >= 5, "the test must really have killed"
    for table, text in TABLES.items():
        assert query(hunted, text) == query(calm, text), table
    assert images(hunted) == images(calm)
    billed_twice = Counter(calls.read_text().splitlines())
    assert sum(billed_twice.values()) - len(CASES) * ROUNDS * 2 <= AT_ONCE * kills
    assert len(billed_twice) == len(CASES) * ROUNDS * 2
    assert faults(hunted, "recorded@1") == []
