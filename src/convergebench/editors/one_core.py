"""Threads in which torch uses one core each, so that the bytes do not depend on the number of cores."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from threading import Lock, Thread

MOST_AT_ONCE = 8
"""Most calls at once, for the sake of memory."""
_setting = Lock()


@cache
def one_core_threads() -> ThreadPoolExecutor:
    """One pool for all editors that use it, with one thread per core: each thread keeps the memory it once used."""
    begin = _use_one_core if find_spec("torch") is not None else None
    return ThreadPoolExecutor(min(MOST_AT_ONCE, os.cpu_count() or 1), "one-core", initializer=begin)


def _use_one_core() -> None:
    """Let torch use one core in this thread: its rounding depends on the number of cores that share a sum.

    The setting is per thread, but later threads inherit the last value that was set. So a short-lived thread restores
    the old value; under a lock, or a second caller would take the value 1 for the old one.
    """
    import torch

    with _setting:
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        after = Thread(target=torch.set_num_threads, args=(before,))
        after.start()
        after.join()
