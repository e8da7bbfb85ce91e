"""Worker processes: Ctrl-C, which a terminal sends to all processes, is left to their parent."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from convergebench.processes import end_workers, worker_pool


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
