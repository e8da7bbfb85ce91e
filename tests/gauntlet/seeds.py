"""Many seeds, on all cores, for a limited time."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import islice

from tests.gauntlet.world import Outcome, run_seed


def attempted(seed: int) -> tuple[int, Outcome | None, str]:
    """(seed, what it came to, what is wrong) — nothing is raised, so that the other seeds go on."""
    try:
        return seed, run_seed(seed), ""
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return seed, None, f"{type(error).__name__}: {error}"


def outcomes(first: int, seeds: int, *, until: float, workers: int) -> Iterator[tuple[int, Outcome | None, str]]:
    """Seed after seed, on all cores, until the time is up."""
    numbers = iter(range(first, first + seeds))
    if workers == 1:
        for seed in numbers:
            if time.monotonic() > until:
                return
            yield attempted(seed)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        waiting = {pool.submit(attempted, seed) for seed in islice(numbers, 2 * workers)}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
            left = len(done) if time.monotonic() < until else 0
            waiting |= {pool.submit(attempted, seed) for seed in islice(numbers, left)}
