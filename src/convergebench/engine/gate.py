"""How many calls an editor may have in flight, and how many it may begin per minute."""

from __future__ import annotations

import asyncio
from collections import deque
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


class Slots:
    """A semaphore, first come first served, whose number of slots may change while they are in use."""

    def __init__(self, number: int) -> None:
        self._number, self._taken = number, 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def resize(self, number: int) -> None:
        """From now on so many; slots in use are never taken away."""
        self._number = number
        self._wake()

    async def __aenter__(self) -> None:
        if self._taken < self._number and not self._waiting:
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # its turn came at the same moment
                self._leave()
            else:
                with suppress(ValueError):
                    self._waiting.remove(turn)
            raise

    async def __aexit__(self, *error: object) -> None:
        self._leave()

    def _leave(self) -> None:
        self._taken -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._taken < self._number:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)


class Gate:
    """First come, first served, so that all chains of an editor advance together."""

    def __init__(self, limits: Limits, account: AccountLimits | None = None) -> None:
        self.limits = limits
        self._account = account or AccountLimits()
        self._slots = Slots(limits.at_once)
        self._next_start = 0.0
        self._halted = asyncio.Event()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one slot among the calls in flight; entered when pace and pauses allow."""
        async with self._slots, self._account.slots or nullcontext():
            await self._pace()
            yield

    def resize(self, at_once: int) -> None:
        """Allow another number of calls in flight, at least one."""
        self._slots.resize(max(1, at_once))

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
