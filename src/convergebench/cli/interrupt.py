"""Ctrl-C without loss: the first lets the calls in flight come home (they are paid for), the second leaves at once.

A request to terminate (SIGTERM) is taken like Ctrl-C.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
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
    asked = 0

    def interrupt() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            stop("Ctrl-C")
            progress.note = f"finishing {progress.in_flight} calls in flight; Ctrl-C again leaves them"
        else:
            _leave(progress.in_flight)

    with _heard(interrupt):
        result = await work
    return result, asked > 0


@contextmanager
def _heard(interrupt: Callable[[], None]) -> Iterator[None]:
    """Inside the loop signals are `interrupt`; afterwards they are what they were."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def _leave(in_flight: int) -> None:
    """Leave as a kill would, which the journal survives: an editor's thread that hangs could not be waited for."""
    shown = "\x1b[?25h\n" if sys.stdout.isatty() else ""  # the live panel hides the cursor
    sys.stdout.write(f"{shown}left {in_flight} calls in flight behind; the same command goes on\n")
    sys.stdout.flush()
    os._exit(130)
