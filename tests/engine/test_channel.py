"""When a line to a provider is given up, and how long it is left alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

from convergebench.engine.channel import MOST_FAILURES
from convergebench.errors import Transient
from convergebench.store.connection import connect
from convergebench.types import EditRequest, Limits
from tests.engine.parts import CASES, IMAGES, CountingEditor, case_of, walk

ONE_AT_ONCE = Limits(at_once=1)


def test_failures_with_successes_between_them_are_not_hopeless(tmp_path: Path) -> None:
    """Every call fails once and then goes well: more failures than would end the line in a row."""

    def flaky(request: EditRequest) -> None:
        if request.attempt == 1:
            raise Transient("503")

    summary, _, progress = walk(tmp_path / "run", CountingEditor(before=flaky), rounds=5)
    assert progress.retries == len(CASES) * 10 > MOST_FAILURES
    assert summary.statuses == {"finished": len(CASES)}


def test_a_provider_that_says_when_to_come_back_is_not_hopeless(tmp_path: Path) -> None:
    calls = 0

    def busy(request: EditRequest) -> None:
        nonlocal calls
        calls += 1
        if calls <= 2 * MOST_FAILURES:
            raise Transient("429", retry_after=1.0)

    cases = [case_of(IMAGES[0], replicate) for replicate in range(MOST_FAILURES)]
    summary, _, _ = walk(tmp_path / "run", CountingEditor(before=busy, limits=ONE_AT_ONCE), rounds=1, cases=cases)
    assert calls > 2 * MOST_FAILURES
    assert summary.stopped is None
    assert summary.statuses == {"finished": MOST_FAILURES}


def test_a_shorter_pause_does_not_cut_a_longer_one(tmp_path: Path) -> None:
    """Two calls are in flight: one is told to come back in 300 s, the other, a moment later, in 1 s."""
    begun: list[float] = []
    pauses = {CASES[0].id: 300.0, CASES[1].id: 1.0}

    def busy(request: EditRequest) -> None:
        begun.append(asyncio.get_running_loop().time())
        if request.attempt == 1 and request.index == 1:
            raise Transient("429", retry_after=pauses[request.case])

    editor = CountingEditor(before=busy, limits=Limits(at_once=2))
    _, seconds, _ = walk(tmp_path / "run", editor, rounds=1, cases=CASES[:2])
    assert min(moment for moment in begun if moment > 0.0) >= 300.0
    assert seconds >= 300.0


def test_every_commit_is_synced_to_the_disk(tmp_path: Path) -> None:
    connection = connect(tmp_path / "run.sqlite")
    assert connection.execute("pragma synchronous").fetchone() == (2,), "full: a power cut loses no row"
    assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    connection.close()
