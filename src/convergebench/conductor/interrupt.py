"""A stop without loss: the first request lets the calls in flight finish (they are paid for), the second leaves them.

In the main thread Ctrl-C and SIGTERM are such requests; in another thread a `StopSignal` is.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from convergebench.conductor.observer import Observer
from convergebench.progress import Progress
from convergebench.stopping import current_signal

T = TypeVar("T")


def run_interruptibly(
    work: Coroutine[Any, Any, T], stop: Callable[[str], None], progress: Progress, observer: Observer
) -> tuple[T, bool]:
    """The work's result, and whether it was asked to stop; needs a thread without a running event loop."""
    return asyncio.run(_interruptible(work, stop, progress, observer))


async def _interruptible(
    work: Coroutine[Any, Any, T], stop: Callable[[str], None], progress: Progress, observer: Observer
) -> tuple[T, bool]:
    loop = asyncio.get_running_loop()
    requests = 0

    def wind_down() -> None:
        stop("Ctrl-C")
        progress.note = f"finishing {progress.in_flight} calls in flight; press Ctrl-C again to abandon them"

    def requested() -> None:
        nonlocal requests
        requests += 1
        if requests == 1:
            loop.call_soon_threadsafe(wind_down)
        else:
            observer.abandon(progress.in_flight)

    with _listening(requested):
        result = await work
    return result, requests > 0


@contextmanager
def _listening(requested: Callable[[], None]) -> Iterator[None]:
    """Inside, every request to stop calls `requested`.

    The handlers are the interpreter's and not the loop's: an editor that blocks the loop would keep those of the loop
    from being called.
    """
    own = current_signal()
    if own is not None:
        with own.listening(requested):
            yield
        return
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        requested()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
