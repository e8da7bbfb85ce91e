"""Looking at a task until it is done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from convergebench.errors import Transient

FIRST, LONGEST = 0.1, 1.0
"""Seconds between looks: often at first, for servers that are quick, then at ease."""

T = TypeVar("T")


async def until_done(look: Callable[[], Awaitable[T | None]], *, seconds: float, who: str, dollars: float = 0.0) -> T:
    """What `look` gives once it is not None; `Transient` after so many seconds. `dollars` are already spent."""
    end, pause = time.monotonic() + seconds, FIRST
    while True:
        found = await look()
        if found is not None:
            return found
        if time.monotonic() >= end:
            # the task may still be carried out and paid for
            raise Transient(f"{who} is not ready after {seconds:g} s", dollars=dollars, unsettled=not dollars)
        await asyncio.sleep(pause)
        pause = min(LONGEST, pause * 1.5)
