"""`cbench rename` and `cbench merge`: editors under better names, several runs as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def rename(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    old: Annotated[str, typer.Argument(help="Name that the editor has.")],
    new: Annotated[str, typer.Argument(help="Name that it gets.")],
) -> None:
    """Give an editor of a run another name; its pictures, numbers and costs stay."""
    from convergebench.cli.display import say
    from convergebench.conductor.rearranging import rename as rename_in_run

    chains = rename_in_run(run, old, new)
    say(f"{run}: '{old}' is now '{new}', {chains:,} chains")
    say(f"next    cbench report {run}")


def merge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN …", help="Runs of one study; they stay as they are.")],
    into: Annotated[Path, typer.Option("--into", help="New folder for the merged run.")],
) -> None:
    """Merge runs of one study, such as two editors that ran on two machines, into a new run."""
    from convergebench.cli.display import say, say_beside
    from convergebench.conductor.rearranging import merge as merge_runs

    merged = merge_runs(runs, into)
    for note in merged.notes:
        say_beside(f"note: {note}")
    shared = f", {merged.shared:,} of them in more than one run" if merged.shared else ""
    say(f"{into}: {merged.chains:,} chains of {len(runs)} runs{shared}; spent in all: ${merged.dollars:,.4f}")
    say(f"next    cbench report {into}")
