"""An event loop whose clock jumps: ten-second calls take no time, and makespans come out exact.

Time stands still while a thread works (disk, database) and jumps to the next timer when nothing is left to do, so a
schedule of hours is played in seconds without changing its order.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

T = TypeVar("T")


class JumpingSelector(selectors.DefaultSelector):
    """Does not wait for timers: it moves the clock of its loop."""

    loop: VirtualTimeLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.loop.catch_up()
        if timeout is not None and timeout <= 0:
            return super().select(0)  # something is ready to run
        if self.loop.working or timeout is None:
            return super().select(None)  # a thread will wake us; no time passes
        self.loop.now += timeout
        return super().select(0)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Use with `run_virtually`."""

    def __init__(self, selector: JumpingSelector | None = None) -> None:
        self.now = 0.0
        self.working = 0
        selector = selector or JumpingSelector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now

    def catch_up(self) -> None:
        """Asyncio takes a timer as due a nanosecond early, since time passes anyway; here it must be made to pass."""
        first = self._scheduled[0].when() if self._scheduled else 0.0  # type: ignore[attr-defined]
        if self.now < first <= self.now + self._clock_resolution:  # type: ignore[attr-defined]
            self.now = first

    def run_in_executor(self, executor: Executor | None, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        self.working += 1
        future = super().run_in_executor(executor, func, *args)

        def done(_: asyncio.Future[T]) -> None:
            self.working -= 1

        future.add_done_callback(done)
        return future


def run_virtually(main: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """(result, seconds that would have passed)."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        result = runner.run(main)
        loop = runner.get_loop()
        assert isinstance(loop, VirtualTimeLoop)
        return result, loop.now
