"""Calls to one provider: how many at once, how often, what is retried, when to stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from convergebench.engine.gate import AccountLimits, Gate
from convergebench.engine.retry import RetryPolicy
from convergebench.errors import BadReply, ConvergeBenchError, Transient, WorkerLost
from convergebench.progress import Progress
from convergebench.redaction import redact
from convergebench.types import Limits

MOST_FAILURES = 25
"""Failed calls in a row after which no further call is begun: the fault is then the provider's."""

T = TypeVar("T")


class StepFailed(ConvergeBenchError):
    """All attempts failed; the step stays open and is tried again by the next run."""


class Stopped(ConvergeBenchError):
    """Calling has stopped; this call was not begun."""


class Channel:
    """Pace, retries and the reasons to stop, for one provider."""

    def __init__(
        self, name: str, limits: Limits, *, retry: RetryPolicy, progress: Progress, account: AccountLimits | None = None
    ) -> None:
        self.name = name
        self.stopping: ConvergeBenchError | None = None
        """Why no further call is begun."""
        self._account = account or AccountLimits()
        self._account.stops.append(self.stop)
        self._gate = Gate(limits, self._account)
        self._retry, self._progress = retry, progress
        self._failures_in_a_row = 0

    def stop(self, reason: ConvergeBenchError) -> None:
        """Begin no further call and wake those that wait; the first reason is kept."""
        self.stopping = self.stopping or reason
        self._gate.halt()

    def resize(self, at_once: int) -> None:
        """Allow another number of calls in flight: a backend has more or fewer copies of the editor now."""
        self._gate.resize(at_once)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """One slot among the calls in flight; raises the reason if there will be no further call."""
        async with self._gate.slot():
            if self.stopping is not None:
                raise type(self.stopping)(str(self.stopping))
            yield

    async def retried(self, attempt: Callable[[int], Awaitable[T]], *, first: int) -> T:
        """The result of `attempt`, called with its number; transient errors and bad replies are retried."""
        for number in range(first, first + self._retry.attempts):
            try:
                result = await attempt(number)
            except (Transient, BadReply) as error:
                tried = number - first + 1
                # a provider that sends Retry-After is not down, and a lost worker is no fault of the editor
                if getattr(error, "retry_after", None) is None and not isinstance(error, WorkerLost):
                    self.failed(str(error))
                if tried == self._retry.attempts:
                    raise StepFailed(f"{tried} attempts failed, last: {redact(str(error))}") from error
                self._progress.retries += 1
                wait = self._retry.wait(tried, error)
                if isinstance(error, Transient) and error.retry_after is not None:
                    self._pause(error.retry_after)
                await self._gate.sleep(wait)
            else:
                return result
        raise AssertionError("unreachable: the last attempt returns or raises")

    def failed(self, note: str) -> None:
        """Count a failed call; too many in a row stop the channel."""
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= MOST_FAILURES:
            self.stop(Stopped(f"{self.name} failed {MOST_FAILURES} times in a row (last: {redact(note)})"))

    def succeeded(self) -> None:
        """Reset the count of failed calls in a row."""
        self._failures_in_a_row = 0

    def _pause(self, seconds: float) -> None:
        """Begin no call for this time, as the provider asks; stop if it is too long to wait."""
        self._gate.pause(seconds)
        self._progress.note = f"{self.name} asks to wait {seconds:,.0f} s"
        if seconds > self._retry.longest_pause:
            others = ", for all of its account" if len(self._account.stops) > 1 else ""
            for stop in self._account.stops:  # or the other channels would wait instead
                stop(Stopped(f"{self._progress.note}{others}"))


class InFlight(Generic[T]):
    """Calls in flight by key: a second request for the same key waits instead of paying twice."""

    def __init__(self) -> None:
        self._futures: dict[str, asyncio.Future[T]] = {}

    async def once(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """The result of `make`, which is called once for all simultaneous requests of this key."""
        if key in self._futures:
            return await asyncio.shield(self._futures[key])
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._futures[key] = future
        try:
            result = await make()
            future.set_result(result)
            return result
        except BaseException as error:
            future.set_exception(error if isinstance(error, Exception) else Stopped("interrupted"))
            future.exception()  # mark as retrieved: perhaps no other request waits
            raise
        finally:
            del self._futures[key]
