"""Ctrl-C without loss: the first lets the calls in flight come home (they are paid for), the second leaves at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from convergebench.engine.progress import Progress
from convergebench.engine.run import Engine
from convergebench.engine.session import Prepared
from convergebench.store.images import ImageStore
from convergebench.store.journal import Journal
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
            journal = Journal(require_run(root) / "run.sqlite")
            stack.callback(journal.close)
            others.append((journal, ImageStore(root)))
        engine = Engine(run, prepared.editors, max_cost=max_cost, progress=progress, reuse=others)
        return asyncio.run(_until_done_or_interrupted(engine, prepared, progress))


async def _until_done_or_interrupted(engine: Engine, prepared: Prepared, progress: Progress) -> Ended:
    loop = asyncio.get_running_loop()
    work = asyncio.ensure_future(engine.run(prepared.chains))
    asked = 0

    def interrupt() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            engine.stop("Ctrl-C")
            progress.note = f"finishing {progress.in_flight} calls in flight; Ctrl-C again leaves them"
        else:
            work.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        summary = await work
    except asyncio.CancelledError:
        return Ended("Ctrl-C, calls in flight left behind", interrupted=True)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    return Ended(summary.stopped, interrupted=asked > 0, statuses=summary.statuses)
