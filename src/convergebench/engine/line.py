"""A line to one provider: how many calls at once, how often, what is tried again, when it is left alone.

Editors and roles share it, so a judge is retried, paced and stopped by the same rules as an editor.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from convergebench.engine.gate import Gate, Patience
from convergebench.engine.progress import Progress
from convergebench.engine.retry import RetryPolicy
from convergebench.errors import BadReply, ConvergeBenchError, Transient
from convergebench.redaction import redact
from convergebench.types import Limits

HOPELESS = 25
"""So many calls to one provider failing in a row means the provider, not the image, is the trouble."""

T = TypeVar("T")


class StepFailed(ConvergeBenchError):
    """All attempts are spent; the step stays open and is tried again by the next run."""


class Stopped(ConvergeBenchError):
    """The run is winding down; this step was not begun."""


class Line:
    """Gate, retries and the reasons to stop, for one provider."""

    def __init__(
        self, name: str, limits: Limits, *, retry: RetryPolicy, progress: Progress, patience: Patience | None = None
    ) -> None:
        self.name = name
        self.stopping: ConvergeBenchError | None = None
        """Why no further call is begun."""
        self._patience = patience or Patience()
        self._patience.stops.append(self.stop)
        self._gate = Gate(limits, self._patience)
        self._retry, self._progress = retry, progress
        self._failures_in_a_row = 0

    def stop(self, reason: ConvergeBenchError) -> None:
        """Begin no further call, and wake those that wait for one; the first reason stands."""
        self.stopping = self.stopping or reason
        self._gate.halt()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """One place among the calls in flight; raises the reason if there will be no further call."""
        async with self._gate.slot():
            if self.stopping is not None:
                raise type(self.stopping)(str(self.stopping))
            yield

    async def tried(self, attempt: Callable[[int], Awaitable[T]], *, first: int) -> T:
        """What `attempt` gives, called with its number; passing errors and bad replies are tried again, bounded."""
        for number in range(first, first + self._retry.attempts):
            try:
                result = await attempt(number)
            except (Transient, BadReply) as error:
                tried = number - first + 1
                # a provider that says when to come back is there: only its patience was tried
                if getattr(error, "retry_after", None) is None:
                    self.failed(str(error))
                if tried == self._retry.attempts:
                    raise StepFailed(f"{tried} attempts failed, last: {redact(str(error))}") from error
                self._progress.retries += 1
                wait = self._retry.wait(tried, error)
                if isinstance(error, Transient) and error.retry_after is not None:
                    self._pause(error.retry_after)
                await self._gate.rest(wait)
            else:
                return result
        raise AssertionError("unreachable: the last attempt returns or raises")

    def failed(self, note: str) -> None:
        """Count a call that failed; too many in a row end the line."""
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= HOPELESS:
            self.stop(Stopped(f"{self.name} failed {HOPELESS} times in a row (last: {redact(note)})"))

    def worked(self) -> None:
        """Count a call that did not fail."""
        self._failures_in_a_row = 0

    def _pause(self, seconds: float) -> None:
        """The provider wants to be left alone: for a while, or for longer than a run should sit and wait."""
        self._gate.pause(seconds)
        self._progress.note = f"{self.name} asks to wait {seconds:,.0f} s"
        if seconds > self._retry.patience:
            others = ", for all of its account" if len(self._patience.stops) > 1 else ""
            for stop in self._patience.stops:  # or they would sit and wait in its place
                stop(Stopped(f"{self._progress.note}{others}"))


class Together(Generic[T]):
    """Two that want the same thing at the same time wait for one call instead of paying twice."""

    def __init__(self) -> None:
        self._under_way: dict[str, asyncio.Future[T]] = {}

    async def once(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` gives, for everyone who asks for this key while it is under way."""
        if key in self._under_way:
            return await asyncio.shield(self._under_way[key])
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._under_way[key] = future
        try:
            result = await make()
            future.set_result(result)
            return result
        except BaseException as error:
            future.set_exception(error if isinstance(error, Exception) else Stopped("interrupted"))
            future.exception()  # mark as seen: nobody may be waiting
            raise
        finally:
            del self._under_way[key]
