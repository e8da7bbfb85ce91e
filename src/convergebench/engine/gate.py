"""How many calls an editor may have in flight, and how many it may begin per minute."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress

from convergebench.errors import ConvergeBenchError
from convergebench.types import Limits


class AccountLimits:
    """What editors of one account share: until when no call may begin, and how many calls may be in flight."""

    def __init__(self, together: int | None = None) -> None:
        self.closed_until = 0.0
        self.stops: list[Callable[[ConvergeBenchError], None]] = []
        """How to stop each of them."""
        self.slots = None if together is None else asyncio.Semaphore(together)


class Gate:
    """First come, first served, so that all chains of an editor advance together."""

    def __init__(self, limits: Limits, account: AccountLimits | None = None) -> None:
        self.limits = limits
        self._account = account or AccountLimits()
        self._slots = asyncio.Semaphore(limits.at_once)
        self._next_start = 0.0
        self._halted = asyncio.Event()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one slot among the calls in flight; entered when pace and pauses allow."""
        async with self._slots, self._account.slots or nullcontext():
            await self._pace()
            yield

    def pause(self, seconds: float) -> None:
        """Let no call begin for a while: the provider asked for it."""
        until = asyncio.get_running_loop().time() + seconds
        self._account.closed_until = max(self._account.closed_until, until)

    def halt(self) -> None:
        """Wake all waiting calls, now and from now on: none will be begun."""
        self._halted.set()

    async def sleep(self, seconds: float) -> None:
        """Sleep, but not past a halt."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._halted.wait(), seconds)

    async def _pace(self) -> None:
        loop = asyncio.get_running_loop()
        while (wait := self._account.closed_until - loop.time()) > 0 and not self._halted.is_set():
            await self.sleep(wait)
        if self.limits.per_minute is not None and not self._halted.is_set():
            start = max(self._next_start, loop.time())
            self._next_start = start + 60.0 / self.limits.per_minute
            if start > loop.time():
                await self.sleep(start - loop.time())
