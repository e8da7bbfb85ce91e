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


class _JumpingSelector(selectors.DefaultSelector):
    loop: VirtualTimeLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            return super().select(0)  # something is ready to run
        if self.loop.working or timeout is None:
            return super().select(None)  # a thread will wake us; no time passes
        self.loop.now += timeout
        return super().select(0)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Use with `run_virtually`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.working = 0
        selector = _JumpingSelector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now

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
