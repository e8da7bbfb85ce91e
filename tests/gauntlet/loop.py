"""An event loop in which nothing is left to chance: a virtual clock, and threads that are played one after another.

The work of a thread pool is done in the loop's own thread, at the virtual moment at which a worker of that pool would
have finished it. One seed therefore gives one history. A loop that waits for nothing has hung, and says so.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

from benchmarks.virtual_time import JumpingSelector, VirtualTimeLoop

T = TypeVar("T")

MEAN_DISK_SECONDS = 0.004


class Hung(BaseException):
    """Tasks are left, and nothing will ever wake them."""


class _Selector(JumpingSelector):
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Hung("no timer, no reply and no disk is left to wait for")
        return super().select(timeout)


class SimulatedLoop(VirtualTimeLoop):
    """`run_simulated` makes one for each session."""

    def __init__(self, randomness: random.Random) -> None:
        super().__init__(_Selector())
        self._randomness = randomness
        self._lanes: dict[int, list[float]] = {}
        """Thread pool → when each of its workers is free."""

    def run_in_executor(self, executor: Executor | None, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        future: asyncio.Future[T] = self.create_future()
        lane = self._lanes.setdefault(id(executor), [0.0] * getattr(executor, "_max_workers", 4))
        worker = lane.index(min(lane))
        lane[worker] = max(self.now, lane[worker]) + self._randomness.expovariate(1 / MEAN_DISK_SECONDS)
        self.call_at(lane[worker], self._carry_out, future, func, args)
        return future

    def _carry_out(self, future: asyncio.Future[T], func: Callable[..., T], args: tuple[Any, ...]) -> None:
        if future.cancelled() and self._randomness.random() < 0.5:
            return  # it had not begun; work that has begun goes on though nobody waits for it
        try:
            result = func(*args)
        except BaseException as error:
            if not future.cancelled():
                future.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))
        else:
            if not future.cancelled():
                future.set_result(result)


def run_simulated(
    make: Callable[[], Coroutine[Any, Any, T]], randomness: random.Random, begun: Callable[[SimulatedLoop], None]
) -> T:
    """The coroutine's result. `begun` is given the loop before it starts."""
    with asyncio.Runner(loop_factory=lambda: SimulatedLoop(randomness)) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, SimulatedLoop)
        begun(loop)
        return runner.run(make())
