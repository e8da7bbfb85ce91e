"""How many calls an editor may have in flight, and how many it may begin per minute."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from convergebench.types import Limits


class Gate:
    """First come, first served, so that all chains of an editor advance together and none is left to the end."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._slots = asyncio.Semaphore(limits.at_once)
        self._next_start = 0.0
        self._closed_until = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one place among the calls in flight; entered when pace and pauses allow."""
        async with self._slots:
            await self._pace()
            yield

    def pause(self, seconds: float) -> None:
        """Let no call begin for a while: the provider asked for it."""
        self._closed_until = max(self._closed_until, asyncio.get_running_loop().time() + seconds)

    async def _pace(self) -> None:
        loop = asyncio.get_running_loop()
        while (wait := self._closed_until - loop.time()) > 0:
            await asyncio.sleep(wait)
        if self.limits.per_minute is not None:
            start = max(self._next_start, loop.time())
            self._next_start = start + 60.0 / self.limits.per_minute
            if start > loop.time():
                await asyncio.sleep(start - loop.time())
