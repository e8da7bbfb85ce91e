"""Combines concurrent requests into batches: asyncio on one side, a single thread with the model on the other.

A batch holds the oldest request and others with the same key, up to `most`. If too few are waiting, the batcher waits a
moment, since chains that shared one call come back together.
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
class _Waiting(Generic[Item, Answer]):
    key: Hashable
    item: Item
    answer: asyncio.Future[Answer]


class Batcher(Generic[Item, Answer]):
    """`work` gets items with the same key and returns an answer or an exception for each."""

    def __init__(
        self, work: Callable[[Sequence[Item]], Sequence[Answer | Exception]], *, most: int, linger: float = 0.05
    ) -> None:
        self.most = most
        self._work = work
        self._linger = linger
        self._waiting: list[_Waiting[Item, Answer]] = []
        self._arrived: asyncio.Event | None = None
        self._running: asyncio.Task[None] | None = None
        self._thread: ThreadPoolExecutor | None = None

    async def ask(self, key: Hashable, item: Item) -> Answer:
        """The answer for an item. A cancelled request is dropped; if it is in progress, its answer is discarded."""
        loop = asyncio.get_running_loop()
        request: _Waiting[Item, Answer] = _Waiting(key, item, loop.create_future())
        self._waiting.append(request)
        if self._running is None or self._running.done():
            self._arrived = asyncio.Event()
            self._running = loop.create_task(self._run(self._arrived))
        if self._arrived is not None:
            self._arrived.set()
        try:
            return await request.answer
        finally:
            with suppress(ValueError):
                self._waiting.remove(request)

    async def close(self) -> None:
        """Wait for the current batch, then stop the thread."""
        if self._thread is not None:
            await asyncio.to_thread(self._thread.shutdown)
            self._thread = None

    async def _run(self, arrived: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            await self._wait_for_more(arrived)
            batch = self._next_batch()
            if not batch:
                continue
            for request in batch:
                self._waiting.remove(request)
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, "pipeline")
            items = [request.item for request in batch]
            try:
                answers = await loop.run_in_executor(self._thread, self._work, items)
                if len(answers) != len(items):
                    raise RuntimeError(f"{len(answers)} answers to {len(items)} items")
            except asyncio.CancelledError:
                for request in batch:
                    request.answer.cancel()
                raise
            except Exception as error:  # any error concerns every request of the batch
                answers = [_copy_of(error) for _ in batch]
            for request, answer in zip(batch, answers, strict=True):
                _resolve(request.answer, answer)

    def _next_batch(self) -> list[_Waiting[Item, Answer]]:
        if not self._waiting:
            return []
        key = self._waiting[0].key
        return [request for request in self._waiting if request.key == key][: self.most]

    async def _wait_for_more(self, arrived: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._linger
        while 0 < len(self._next_batch()) < self.most and (left := until - loop.time()) > 0:
            arrived.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(arrived.wait(), left)


def _copy_of(error: Exception) -> Exception:
    """A separate copy for every caller, since callers add their own costs to it."""
    if not isinstance(error, ConvergeBenchError):
        return error
    own = copy(error)
    own.__cause__ = error.__cause__
    return own


def _resolve(future: asyncio.Future[Answer], answer: Answer | Exception) -> None:
    if future.done():  # the caller was cancelled
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
