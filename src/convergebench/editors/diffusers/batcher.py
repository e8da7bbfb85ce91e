"""Chains that wait at the same time share one call: asyncio on one side, a single thread with the model on the other.

The oldest request decides what is worked on; those that are alike (the same key) go along, up to `most`. If too few
wait, the batcher lingers a moment, since chains that went through one call together come back together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Generic, TypeVar

from convergebench.errors import ConvergeBenchError

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(eq=False, slots=True)
class _Ticket(Generic[Item, Answer]):
    key: Hashable
    item: Item
    answer: asyncio.Future[Answer]


class Batcher(Generic[Item, Answer]):
    """`work` gets items of one key and gives an answer, or the exception that is one, for each."""

    def __init__(
        self, work: Callable[[Sequence[Item]], Sequence[Answer | Exception]], *, most: int, linger: float = 0.05
    ) -> None:
        self.most = most
        self._work = work
        self._linger = linger
        self._waiting: list[_Ticket[Item, Answer]] = []
        self._arrived: asyncio.Event | None = None
        self._running: asyncio.Task[None] | None = None
        self._thread: ThreadPoolExecutor | None = None

    async def ask(self, key: Hashable, item: Item) -> Answer:
        """The item's answer. A cancelled request drops out; if it is being worked on, its answer is thrown away."""
        loop = asyncio.get_running_loop()
        ticket: _Ticket[Item, Answer] = _Ticket(key, item, loop.create_future())
        self._waiting.append(ticket)
        if self._running is None or self._running.done():
            self._arrived = asyncio.Event()
            self._running = loop.create_task(self._run(self._arrived))
        if self._arrived is not None:
            self._arrived.set()
        try:
            return await ticket.answer
        finally:
            with suppress(ValueError):
                self._waiting.remove(ticket)

    async def close(self) -> None:
        """Wait for the work in hand, then let the thread go."""
        if self._thread is not None:
            await asyncio.to_thread(self._thread.shutdown)
            self._thread = None

    async def _run(self, arrived: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            await self._gather(arrived)
            tickets = self._alike()
            if not tickets:
                continue
            for ticket in tickets:
                self._waiting.remove(ticket)
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, "pipeline")
            items = [ticket.item for ticket in tickets]
            try:
                answers = await loop.run_in_executor(self._thread, self._work, items)
                if len(answers) != len(items):
                    raise RuntimeError(f"{len(answers)} answers to {len(items)} items")
            except asyncio.CancelledError:
                for ticket in tickets:
                    ticket.answer.cancel()
                raise
            except Exception as error:  # it belongs to every member, whatever it is
                answers = [_own(error) for _ in tickets]
            for ticket, answer in zip(tickets, answers, strict=True):
                _give(ticket.answer, answer)

    def _alike(self) -> list[_Ticket[Item, Answer]]:
        if not self._waiting:
            return []
        key = self._waiting[0].key
        return [ticket for ticket in self._waiting if ticket.key == key][: self.most]

    async def _gather(self, arrived: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._linger
        while 0 < len(self._alike()) < self.most and (left := until - loop.time()) > 0:
            arrived.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(arrived.wait(), left)


def _own(error: Exception) -> Exception:
    """One of its own for every asker: whoever catches it writes into it what the call has cost them."""
    if not isinstance(error, ConvergeBenchError):
        return error
    own = copy(error)
    own.__cause__ = error.__cause__
    return own


def _give(future: asyncio.Future[Answer], answer: Answer | Exception) -> None:
    if future.done():  # its asker has gone
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
