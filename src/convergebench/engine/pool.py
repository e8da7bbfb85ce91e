"""Worker processes for pixels: as many as there are cores, gone when their parent is gone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for
from typing import TypeVar

from convergebench.errors import StudyError

Task = TypeVar("Task")
Result = TypeVar("Result")


def results(work: Callable[[Task], Result], tasks: Sequence[Task], workers: int) -> Iterator[Result]:
    """What `work` gives for each task, as it comes; in this process when there is nothing to share out."""
    if workers == 1 or len(tasks) == 1:
        yield from map(work, tasks)
        return
    context = multiprocessing.get_context("spawn")  # fork would copy threads' locks
    pool = ProcessPoolExecutor(min(workers, len(tasks)), mp_context=context, initializer=_begin_worker)
    waiting = iter(tasks)
    under_way: set[Future[Result]] = set()
    try:
        while True:
            while len(under_way) < 3 * workers and (task := next(waiting, None)) is not None:
                under_way.add(pool.submit(work, task))
            if not under_way:
                return
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    except BrokenProcessPool as error:
        raise StudyError(
            "a measuring process was killed, perhaps for want of memory; what was measured is kept. "
            "Run the same command again with fewer: --workers 1"
        ) from error
    except BaseException:  # Ctrl-C above all: nobody will take the values that workers are at
        for child in multiprocessing.active_children():
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_worker() -> None:
    # one worker per core already; more threads would only get in each other's way. torch, when a metric loads it,
    # reads the variables
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    import cv2

    cv2.setNumThreads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all; the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed parent cannot tell its workers; without this they would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)
