"""Nobody waits for a call that will not be made, and no call is waited for without end."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from benchmarks.virtual_time import run_virtually
from convergebench.engine.run import Engine
from convergebench.errors import Transient
from convergebench.store.run import Run
from convergebench.types import Edited, EditRequest, Limits
from tests.engine.parts import CASES, IMAGES, CountingEditor, begun, case_of, chains_of, query, walk


def test_a_spent_budget_ends_the_run_at_once_though_calls_are_paced(tmp_path: Path) -> None:
    editor = CountingEditor(dollars=1.0, limits=Limits(at_once=4, per_minute=1))
    cases = [case_of(IMAGES[0], replicate) for replicate in range(40)]
    summary, seconds, _ = walk(tmp_path / "run", editor, cases=cases, max_cost=2.0)
    assert editor.calls == 2
    assert seconds <= 121.0
    assert summary.statuses == {"stopped": 40}, "the budget held up every one of them"


def test_a_spent_budget_does_not_hold_up_an_editor_that_costs_nothing(tmp_path: Path) -> None:
    paid = CountingEditor("paid", dollars=1.0, fingerprint="paid@1")
    free = CountingEditor("free", fingerprint="free@1", seconds=1.0)
    with Run.create(tmp_path / "run") as run:
        begun(run, IMAGES, CASES)
        engine = Engine(run, {"paid": paid, "free": free}, max_cost=3.0)
        chains = [*chains_of(CASES, 5, "paid"), *chains_of(CASES, 5, "free")]
        summary, _ = run_virtually(engine.run(chains))
    assert summary.statuses == {"stopped": len(CASES), "finished": len(CASES)}
    assert summary.stopped is not None
    assert paid.calls == 3


def test_a_stop_does_not_wait_for_a_retry_that_will_not_be_made(tmp_path: Path) -> None:
    def busy(request: EditRequest) -> None:
        raise Transient("429", retry_after=3000.0)

    async def stopped_after_a_second(engine: Engine) -> None:
        work = asyncio.ensure_future(engine.run(chains_of(CASES, 5)))
        await asyncio.sleep(1.0)
        engine.stop("Ctrl-C")
        summary = await work
        assert (summary.statuses, summary.stopped) == ({"open": len(CASES)}, "Ctrl-C")

    with Run.create(tmp_path / "run") as run:
        begun(run, IMAGES, CASES)
        engine = Engine(run, {"counting": CountingEditor(before=busy)})
        _, seconds = run_virtually(stopped_after_a_second(engine))
    assert seconds < 2.0


def test_a_provider_that_wants_a_day_is_left_for_a_later_run(tmp_path: Path) -> None:
    def tomorrow(request: EditRequest) -> None:
        raise Transient("quota", retry_after=86_400.0)

    summary, seconds, _ = walk(tmp_path / "run", CountingEditor(before=tomorrow))
    assert seconds < 60.0
    assert summary.stopped == "counting asks to wait 86,400 s"
    assert summary.statuses == {"open": len(CASES)}


def test_a_call_that_hangs_is_given_up_counted_in_the_budget_and_tried_again(tmp_path: Path) -> None:
    class Hanging(CountingEditor):
        async def edit(self, request: EditRequest) -> Edited:
            if request.attempt == 1 and request.index == 2:
                await asyncio.sleep(1e6)
            return await super().edit(request)

    editor = Hanging(dollars=0.5, limits=Limits(at_once=4, seconds=30.0))
    summary, seconds, progress = walk(tmp_path / "run", editor, rounds=1)
    assert summary.statuses == {"finished": len(CASES)}
    assert 30.0 <= seconds < 35.0
    assert progress.dollars == 0.5 * len(CASES) * 3
    errors = query(tmp_path / "run", "select distinct error, dollars from attempts where outcome = 'transient'")
    assert errors == [("no answer within 30 s", 0.5)]


def test_asking_for_fewer_rounds_takes_nothing_away(tmp_path: Path) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=5)
    before = query(tmp_path / "run", "select * from chains")
    shorter = CountingEditor()
    summary, _, _ = walk(tmp_path / "run", shorter, rounds=3)
    assert shorter.calls == 0
    assert summary.statuses == {"finished": len(CASES)}
    assert query(tmp_path / "run", "select * from chains") == before


def test_a_chain_that_goes_on_keeps_the_rounds_it_has(tmp_path: Path) -> None:
    """So that a run that is looked at, or killed, while it grows does not read as if it had done nothing."""
    seen: set[tuple[str, int]] = set()

    def look(request: EditRequest) -> None:
        seen.update(query(tmp_path / "run", "select status, rounds from chains"))

    walk(tmp_path / "run", CountingEditor(), rounds=5, cases=CASES[:1])
    walk(tmp_path / "run", CountingEditor(before=look), rounds=6, cases=CASES[:1])
    assert seen == {("open", 5)}


def test_an_editor_that_blocks_every_thread_does_not_keep_images_from_being_stored(tmp_path: Path) -> None:
    """Foreign code may sit in the event loop's own threads; the run's disk work has threads of its own."""
    release = threading.Event()

    class Sitting(CountingEditor):
        async def edit(self, request: EditRequest) -> Edited:
            for _ in range(64):
                asyncio.get_running_loop().run_in_executor(None, release.wait)
            return await super().edit(request)

    async def session(run: Run) -> dict[str, int]:
        engine = Engine(run, {"counting": Sitting()})
        try:
            return (await asyncio.wait_for(engine.run(chains_of(CASES[:1], 1)), timeout=15)).statuses
        finally:
            release.set()

    with Run.create(tmp_path / "run") as run:
        begun(run, IMAGES, CASES[:1])
        assert asyncio.run(session(run)) == {"finished": 1}
