"""The editing stage: walk every chain of a prepared study into an open run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.conductor.interrupt import run_interruptibly
from convergebench.conductor.observer import Observer
from convergebench.engine.plan import Chain
from convergebench.engine.prepared import Prepared
from convergebench.engine.run import Engine, RunSummary
from convergebench.progress import Progress
from convergebench.store.images import open_images
from convergebench.store.records import Records
from convergebench.store.run import Run, require_run
from convergebench.types import Editor


@dataclass(frozen=True)
class EditingOutcome(RunSummary):
    """How editing ended."""

    interrupted: bool = False
    """Whether somebody asked it to stop."""


def run_chains(
    run: Run,
    editors: Mapping[str, Editor],
    chains: Sequence[Chain],
    *,
    progress: Progress | None = None,
    observer: Observer | None = None,
    **options: Any,
) -> EditingOutcome:
    """Walk these chains; `options` are those of `Engine` (roles, max_cost, retry, reuse)."""
    progress = progress or Progress()
    engine = Engine(run, editors, progress=progress, **options)
    summary, interrupted = run_interruptibly(engine.run(chains), engine.stop, progress, observer or Observer())
    return EditingOutcome(summary.statuses, summary.stopped, interrupted)


def edit(
    run: Run,
    prepared: Prepared,
    *,
    observer: Observer,
    max_cost: float | None = None,
    reuse: Sequence[Path] = (),
    chain_grew: Callable[[str, str], None] | None = None,
    stage: str = "editing",
    unit: str = "steps",
    then: str = "",
    then_seconds: float | None = None,
) -> EditingOutcome:
    """Walk every chain of a prepared study, answering from the runs in `reuse` where they fit.

    `chain_grew(editor, case)` is called whenever a chain has stored a step. `then` and `then_seconds` say what comes
    afterwards, beside the time left.
    """
    progress = Progress(then=then, then_seconds=then_seconds)
    with ExitStack() as stack:
        lenders = []
        for root in reuse:
            records = Records(require_run(root) / "run.sqlite")
            stack.callback(records.close)
            lenders.append((records, open_images(root)))
        stack.enter_context(observer.watch(stage, progress, unit=unit))
        return run_chains(
            run,
            prepared.editors,
            prepared.chains,
            progress=progress,
            observer=observer,
            roles=prepared.roles,
            max_cost=max_cost,
            reuse=lenders,
            chain_grew=chain_grew,
        )


def note_failures(run: Run, observer: Observer, of: Collection[tuple[str, str]] | None = None) -> set[tuple[str, str]]:
    """Tell which chains failed (of these, by editor and case) and why the first one did; gives them."""
    rows = run.journal.chains()
    failed = [row for chain, row in rows.items() if row.status == "failed" and (of is None or chain in of)]
    if failed:
        chains = "chain" if len(failed) == 1 else "chains"
        first = f"{failed[0].editor}, {failed[0].case}: {failed[0].detail}"
        observer.note(f"{len(failed):,} {chains} failed; the same command tries again. {first}")
    return {(row.editor, row.case) for row in failed}


def all_failed(run: Run, prepared: Prepared) -> str:
    """One line if no chain of the study was finished and some failed; else nothing."""
    asked = {(chain.editor, chain.case.id) for chain in prepared.chains}
    found = [row.status for chain, row in run.journal.chains().items() if chain in asked]
    if "failed" not in found or {"finished", "ended"} & set(found):
        return ""
    return f"no chain was finished: {found.count('failed'):,} of {len(asked):,} failed"


def note_unsettled(journal: Records, observer: Observer) -> None:
    """Tell how many calls have no whole answer on record, and what they are counted at."""
    calls, dollars = journal.unsettled()
    if calls:
        words = "1 call has" if calls == 1 else f"{calls:,} calls have"
        observer.note(
            f"note: {words} no complete answer on record and may have been charged; counted at full price "
            f"(${dollars:,.4f} of ${journal.dollars():,.4f})"
        )
