"""A crew: the copies of one worker on the machines of a cluster. It lives in one event loop.

A call waits here, outside of Ray, until a copy has room for it: nothing is queued on a machine that may be lost, and
the number of images under way is bounded. A copy that is gone is replaced; what it was at is told to the caller.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from convergebench.backends.ray.worker import Failure, Readiness
from convergebench.errors import ConvergeBenchError, Prerequisite
from convergebench.registry import error_text

MOST_FALSE_STARTS = 3
"""Copies in a row that ended before they were ready: then there is no point in another one."""


class CopyLost(Exception):
    """The copy that carried out a call is gone; the message says where it was."""


class Overdue(Exception):
    """The call took longer than it may."""


@dataclass(eq=False)
class _Copy:
    actor: Any
    begun: float
    host: str = ""
    ready: bool = False
    busy: int = 0
    idle_since: float = 0.0
    leaving: bool = False


@dataclass
class Crew:
    """Copies of one worker, each with room for some calls at once."""

    name: str
    make: Callable[[], Any]
    """Starts another copy and returns its handle."""
    bundle: Mapping[str, float]
    """What a copy needs of a machine."""
    calls: int
    """Calls that a copy takes at once."""
    most: int
    """Most copies."""
    resized: Callable[[int], None] = lambda _: None
    """Told whenever the number of calls that can be carried out at once has changed."""
    copies: list[_Copy] = field(default_factory=list)
    lacks: tuple[str, ...] = ()
    lost: int = 0
    """Copies that were lost after they had been ready."""
    _fault: ConvergeBenchError | None = None
    _false_starts: int = 0
    _expected: int = 0
    """How many wait for the first copy."""
    _waiting: deque[asyncio.Future[_Copy]] = field(default_factory=deque)
    _first: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    closed: bool = False

    @property
    def ready(self) -> list[_Copy]:
        """Copies that take calls."""
        return [one for one in self.copies if one.ready and not one.leaving]

    @property
    def starting(self) -> list[_Copy]:
        """Copies that wait for room on a machine, or are being loaded."""
        return [one for one in self.copies if not one.ready]

    @property
    def is_short(self) -> bool:
        """Whether another copy would be used: there are chains for it, and no copy has room."""
        return not self.closed and len(self.copies) < self.most and self._roomiest() is None

    @property
    def is_starving(self) -> bool:
        """Whether somebody waits for a copy and there is none."""
        return bool(self._waiting or self._expected) and not self.ready

    def grow(self) -> None:
        """Start another copy; Ray waits for room on a machine."""
        copy = _Copy(self.make(), asyncio.get_running_loop().time())
        self.copies.append(copy)
        self._in_background(self._begin(copy))

    def retire(self, copy: _Copy) -> None:
        """End a copy as soon as it has nothing to do."""
        copy.leaving = True
        self._tell()
        if not copy.busy:
            self._remove(copy)

    async def begun(self) -> Readiness:
        """Wait until the first copy is ready."""
        if not self.copies:
            self.grow()
        self._expected += 1
        try:
            await self._first.wait()
        finally:
            self._expected -= 1
        if self._fault is not None:
            raise self._fault
        return Readiness("", self.lacks)

    async def call(self, method: str, *arguments: Any, seconds: float | None = None) -> Any:
        """What a copy answers; `CopyLost` or `Overdue` if it does not. Waiting for a copy takes no time off."""
        from ray.exceptions import RayError, TaskCancelledError

        copy = await self._lease()
        reference = None
        try:
            reference = getattr(copy.actor, method).remote(*arguments)
            async with asyncio.timeout(seconds):
                answer = await reference
            return answer
        except TimeoutError as error:
            self._cancel(reference)
            raise Overdue from error
        except asyncio.CancelledError:
            self._cancel(reference)
            raise
        except TaskCancelledError as error:
            raise Overdue from error
        except RayError as error:
            self._drop(copy)
            raise CopyLost(f"the worker of {self.name} on {copy.host or 'a machine'} was lost") from error
        finally:
            self._release(copy)

    async def close(self) -> None:
        """End all copies; calls that wait are cancelled."""
        self.closed = True
        for waiting in self._waiting:
            waiting.cancel()
        for copy in list(self.copies):
            self._remove(copy)
        for task in list(self._tasks):
            task.cancel()

    async def _begin(self, copy: _Copy) -> None:
        from ray.exceptions import RayError

        try:
            said: Readiness = await copy.actor.ready.remote()
        except RayError as error:
            if copy in self.copies:
                self.copies.remove(copy)
                self._false_starts += 1
                self._after_false_start(error)
            return
        if said.fault is not None:
            self._fail(said.fault.error())
            return
        copy.host, copy.ready, copy.idle_since = said.host, True, asyncio.get_running_loop().time()
        self.lacks, self._false_starts = said.lacks, 0
        self._first.set()
        self._tell()
        self._serve()

    def _after_false_start(self, error: Exception) -> None:
        if self._false_starts < MOST_FALSE_STARTS:
            if not self.copies and not self.closed:
                self.grow()
            return
        reason = error_text(error)[:300]
        self._fail(Prerequisite(f"no worker of {self.name} can be started on the cluster: {reason}"))

    def _fail(self, error: ConvergeBenchError) -> None:
        """No copy can work: every call gets the reason."""
        self._fault = error
        self._first.set()
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_exception(Failure.of(error).error())

    async def _lease(self) -> _Copy:
        if self._fault is not None:
            raise Failure.of(self._fault).error()
        self.closed = False  # a later stage of the run may use an editor again
        copy = self._roomiest()
        if copy is not None and not self._waiting:
            copy.busy += 1
            return copy
        turn: asyncio.Future[_Copy] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        if not self.copies:
            self.grow()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release(turn.result())
            raise

    def _roomiest(self) -> _Copy | None:
        free = [one for one in self.ready if one.busy < self.calls]
        return min(free, key=lambda one: one.busy, default=None)

    def _release(self, copy: _Copy) -> None:
        copy.busy -= 1
        if not copy.busy:
            copy.idle_since = asyncio.get_running_loop().time()
            if copy.leaving:
                self._remove(copy)
        self._serve()

    def _serve(self) -> None:
        while self._waiting and (copy := self._roomiest()) is not None:
            turn = self._waiting.popleft()
            if not turn.done():
                copy.busy += 1
                turn.set_result(copy)

    def _drop(self, copy: _Copy) -> None:
        """A copy is gone: another one takes its place, wherever there is room."""
        if copy not in self.copies:
            return
        self.lost += 1
        self._remove(copy)
        if not self.copies and not self.closed:
            self.grow()

    def _remove(self, copy: _Copy) -> None:
        import ray

        if copy in self.copies:
            self.copies.remove(copy)
            self._tell()
        ray.kill(copy.actor)

    def _tell(self) -> None:
        self.resized(max(1, len(self.ready) * self.calls))

    def _cancel(self, reference: Any) -> None:
        import ray

        if reference is not None:
            ray.cancel(reference)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
