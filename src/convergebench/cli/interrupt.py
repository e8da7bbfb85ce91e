"""Ctrl-C without loss: the first lets the calls in flight come home (they are paid for), the second leaves at once.

A request to terminate (SIGTERM) is taken like Ctrl-C.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from convergebench.engine.progress import Progress
from convergebench.engine.run import Engine
from convergebench.engine.session import Prepared
from convergebench.store.images import ImageStore
from convergebench.store.journal import Records
from convergebench.store.run import Run, require_run


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
        engine = Engine(run, prepared.editors, max_cost=max_cost, progress=progress, reuse=others)
        return asyncio.run(_until_done_or_interrupted(engine, prepared, progress))


async def _until_done_or_interrupted(engine: Engine, prepared: Prepared, progress: Progress) -> Ended:
    asked = 0

    def interrupt() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            engine.stop("Ctrl-C")
            progress.note = f"finishing {progress.in_flight} calls in flight; Ctrl-C again leaves them"
        else:
            _leave(progress.in_flight)

    with _heard(interrupt):
        summary = await engine.run(prepared.chains)
    return Ended(summary.stopped, interrupted=asked > 0, statuses=summary.statuses)


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
