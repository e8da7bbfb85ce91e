"""Ctrl-C without loss: the first lets the calls in flight come home (they are paid for), the second leaves at once.

A request to terminate (SIGTERM) is taken like Ctrl-C.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from convergebench.engine.asker import Asker
from convergebench.engine.asking import Asked, fill_in
from convergebench.engine.line import Stopped
from convergebench.engine.progress import Progress
from convergebench.engine.run import Engine
from convergebench.engine.session import Prepared
from convergebench.metrics.judged._asked import AskedMetric
from convergebench.store.images import ImageStore
from convergebench.store.journal import Records
from convergebench.store.run import Run, require_run

T = TypeVar("T")


@dataclass(frozen=True)
class Ended:
    """How the editing stage ended."""

    stopped: str | None
    interrupted: bool
    statuses: dict[str, int] = field(default_factory=dict)


def run_engine(
    run: Run, prepared: Prepared, progress: Progress, *, max_cost: float | None, reuse: Sequence[Path]
) -> Ended:
    """Walk every chain of a prepared study."""
    with ExitStack() as stack:
        others = []
        for root in reuse:
            records = Records(require_run(root) / "run.sqlite")
            stack.callback(records.close)
            others.append((records, ImageStore(root)))
        engine = Engine(run, prepared.editors, roles=prepared.roles, max_cost=max_cost, progress=progress, reuse=others)
        summary, interrupted = asyncio.run(_patiently(engine.run(prepared.chains), engine.stop, progress))
        return Ended(summary.stopped, interrupted=interrupted, statuses=summary.statuses)


def run_asker(asker: Asker, run: Run, metrics: Sequence[AskedMetric]) -> Asked:
    """Put every question that is missing."""

    def stop(reason: str) -> None:
        asker.stop(Stopped(reason))

    asked, _ = asyncio.run(_patiently(fill_in(asker, run, metrics), stop, asker.progress))
    return asked


async def _patiently(work: Coroutine[Any, Any, T], stop: Callable[[str], None], progress: Progress) -> tuple[T, bool]:
    """The work's result, and whether somebody wanted it to end sooner."""

    def wind_down() -> None:
        stop("Ctrl-C")
        progress.note = f"finishing {progress.in_flight} calls in flight; Ctrl-C again leaves them"

    with _heard(wind_down, lambda: _leave(progress.in_flight)) as asked:
        result = await work
    return result, bool(asked)


@contextmanager
def _heard(first: Callable[[], None], again: Callable[[], None]) -> Iterator[list[int]]:
    """Inside, the first signal is `first`, in the loop, and every later one `again`; gives the signals that came.

    The handlers are the interpreter's and not the loop's, since an editor that blocks the loop would keep them from
    being called.
    """
    loop = asyncio.get_running_loop()
    asked: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        if len(asked) == 1:
            loop.call_soon_threadsafe(first)
        else:
            again()

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(in_flight: int) -> None:
    """Leave as a kill would, which the journal survives: an editor's thread that hangs could not be waited for."""
    shown = "\x1b[?25h\n" if sys.stdout.isatty() else ""  # the live panel hides the cursor
    line = f"{shown}left {in_flight} calls in flight behind; the same command goes on\n"
    with suppress(OSError):  # past the buffer of stdout, which may be in use at this moment
        os.write(1, line.encode())
    os._exit(130)
