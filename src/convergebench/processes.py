"""Worker processes for pixels: as many as there are cores, gone when their parent is gone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import wait as wait_for
from types import ModuleType
from typing import Any, TypeVar

from convergebench.errors import StudyError
from convergebench.stopping import check_stop

AWAKE = 0.2
"""Seconds between two looks at signals: polars installs a handler that does not end a wait on a lock."""

_ONE_AT_A_TIME = threading.Lock()
"""Held while the main module is hidden: two threads would restore it in the wrong order."""

Task = TypeVar("Task")
Result = TypeVar("Result")


def results(
    work: Callable[[Task], Result], tasks: Sequence[Task], workers: int, *, kept: bool = True
) -> Iterator[Result]:
    """What `work` gives for each task, as it comes; in this process when there is nothing to share out.

    `kept` says whether the caller stores each result at once, which is told if a process is killed.
    """
    if workers == 1 or len(tasks) == 1:
        for task in tasks:
            check_stop()
            yield work(task)
        return
    pool = worker_pool(min(workers, len(tasks)))
    try:
        yield from gathered(lambda task: pool.submit(work, task), tasks, 3 * workers)
    except BrokenProcessPool as error:
        told = "; what was measured is kept" if kept else ""
        raise StudyError(
            f"a measuring process was killed, perhaps because memory ran out{told}. "
            "Run the same command again with fewer processes: --workers 1"
        ) from error
    except BaseException:  # Ctrl-C above all: nobody will take the values that workers are at
        for child in multiprocessing.active_children():
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def gathered(submit: Callable[[Task], Future[Result]], tasks: Sequence[Task], most: int) -> Iterator[Result]:
    """The results of these tasks as they come, with at most so many under way."""
    waiting = iter(tasks)
    under_way: set[Future[Result]] = set()
    while True:
        under_way |= {submit(task) for task in islice(waiting, most - len(under_way))}
        if not under_way:
            return
        done, under_way = wait(under_way, AWAKE, return_when=FIRST_COMPLETED)
        check_stop()
        for future in done:
            yield future.result()


def waited_for(future: Future[Result]) -> Result:
    """The result, waited for so that Ctrl-C and requests to stop end the wait."""
    try:
        while not future.done():
            wait([future], AWAKE)
            check_stop()
    except BaseException:
        future.cancel()
        raise
    return future.result()


def worker_pool(workers: int) -> ProcessPoolExecutor:
    """Processes that end with their parent; each has one thread, and Ctrl-C is left to the parent."""
    context = multiprocessing.get_context("spawn")  # fork would copy threads' locks
    return _WorkerPool(workers, mp_context=context, initializer=_begin_worker)


class _WorkerPool(ProcessPoolExecutor):
    """Its workers do not import the main module: it may be a script that calls this package at once.

    All are started by the first task. Were they started one by one, then a worker killed while the next is starting
    would leave that one behind: nobody ends it, and the pool waits for it for ever.
    """

    def __init__(self, workers: int, **options: Any) -> None:
        super().__init__(workers, **options)
        self._safe_to_dynamically_spawn_children = False

    def submit(self, work: Callable[..., Result], /, *arguments: Any, **named: Any) -> Future[Result]:
        with _main_hidden(), _interrupt_blocked():  # the first task starts the workers
            return super().submit(work, *arguments, **named)


def end_workers(pool: ProcessPoolExecutor) -> None:
    """End a pool at once; what its workers are at is lost."""
    processes = list((pool._processes or {}).values())  # shutting down forgets them
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Processes that start in here do not import the main module."""
    with _ONE_AT_A_TIME:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


@contextmanager
def _interrupt_blocked() -> Iterator[None]:
    """Processes that start in here get no Ctrl-C, not even before they can ignore it."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def use_one_thread() -> None:
    """Let this process compute in one thread: there is a worker per core already. Before torch is loaded."""
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    import cv2

    cv2.setNumThreads(1)


def _begin_worker() -> None:
    use_one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all; the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed parent cannot tell its workers; without this they would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)
