"""Polling a task until it is done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from convergebench.errors import Transient

FIRST, LONGEST = 0.1, 1.0
"""Seconds between polls: the first pause is short, for quick servers; later ones grow."""

T = TypeVar("T")


async def until_done(
    poll: Callable[[], Awaitable[T | None]],
    *,
    seconds: float,
    who: str,
    dollars: float = 0.0,
    every: float | None = None,
) -> T:
    """The first result of `poll` that is not None; `Transient` after `seconds`. `dollars` are already spent.

    `every`: always so many seconds between two polls, instead of a growing pause.
    """
    end, pause = time.monotonic() + seconds, every or FIRST
    while True:
        found = await poll()
        if found is not None:
            return found
        if time.monotonic() >= end:
            # the task may still finish and be charged
            raise Transient(f"{who} is not ready after {seconds:g} s", dollars=dollars, unsettled=not dollars)
        await asyncio.sleep(pause)
        pause = every or min(LONGEST, pause * 1.5)
