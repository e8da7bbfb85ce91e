"""`cbench import`: score chains that somebody else made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def import_recordings(
    folder: Annotated[
        Path, typer.Argument(help="A chain, or a folder of chains: I0_source, I1_forward, I1_backward …")
    ],
    run: Annotated[Path, typer.Option("--run", help="Run directory, new or to add to.")],
    editor: Annotated[str, typer.Option("--editor", help="Name of the editor that made them.")],
) -> None:
    """Import published round trips as chains of a run; nothing is called, nothing is re-encoded."""
    from convergebench.cli.display import say, watch
    from convergebench.cli.interrupt import run_engine
    from convergebench.engine.progress import Progress
    from convergebench.engine.recordings import prepare_recordings
    from convergebench.engine.session import begin
    from convergebench.store.run import Run

    prepared = prepare_recordings(folder, editor)
    with Run.create(run) as opened:
        begin(opened, prepared)
        progress = Progress()
        with watch("importing", progress, unit="images"):
            ended = run_engine(opened, prepared, progress, max_cost=None, reuse=[])
    if ended.stopped is not None:
        say(f"stopped: {ended.stopped}. Nothing is lost; the same command goes on")
        raise typer.Exit(130 if ended.interrupted else 3)
    steps = sum(chain.study.calls(chain.case) for chain in prepared.chains)
    say(f"{len(prepared.chains)} chains, {steps} edits by {editor} in {run}")
    say(f"next    cbench measure {run} --metric default && cbench report {run}")
