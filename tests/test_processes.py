"""Worker processes: Ctrl-C, which a terminal sends to all processes, is left to their parent."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures.process import BrokenProcessPool

import pytest

from convergebench.errors import StudyError
from convergebench.processes import end_workers, results, worker_pool


@pytest.mark.parametrize("main_thread", [True, False])
def test_a_worker_that_is_just_starting_gets_no_interrupt_either(main_thread: bool) -> None:
    pool = worker_pool(1)
    starting = threading.Thread(target=lambda: pool.submit(int))
    if main_thread:
        starting.run()
    else:
        starting.start()
        starting.join()
    try:
        for process in list((pool._processes or {}).values()):
            assert process.pid is not None
            os.kill(process.pid, signal.SIGINT)
        assert pool.submit(int, "7").result(timeout=60) == 7
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()), "the parent still gets it"
    finally:
        end_workers(pool)


def test_the_first_task_starts_every_worker() -> None:
    """One that is started later is left behind, and waited for without end, when another dies at that moment."""
    pool = worker_pool(3)
    try:
        pool.submit(int)
        assert len(pool._processes or {}) == 3
    finally:
        end_workers(pool)


def test_a_worker_killed_while_it_starts_breaks_the_pool_and_ends_the_others() -> None:
    pool = worker_pool(3)
    under_way = [pool.submit(int, "7") for _ in range(6)]
    victim, *others = list((pool._processes or {}).values())
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    with pytest.raises(BrokenProcessPool):
        [one.result(timeout=60) for one in under_way] and [pool.submit(int).result(timeout=60) for _ in range(50)]
    pool.shutdown()
    assert not any(process.is_alive() for process in others)


@pytest.mark.parametrize(("kept", "said"), [(True, "ran out; what was measured is kept. Run"), (False, "ran out. Run")])
def test_only_what_is_stored_is_said_to_be_kept_when_a_worker_dies(kept: bool, said: str) -> None:
    with pytest.raises(StudyError, match=said) as caught:
        list(results(os._exit, [1, 1], 2, kept=kept))
    assert str(caught.value).endswith("with fewer processes: --workers 1")
