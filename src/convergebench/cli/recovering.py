"""`cbench recover`: a damaged run, rebuilt beside the old one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from convergebench.store.recover import Recovered


def recover(
    run: Annotated[Path, typer.Argument(help="Run directory that is damaged; nothing in it is changed.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="New folder for the recovered run (default: RUN-recovered).")
    ] = None,
) -> None:
    """Rebuild a damaged run in a new folder from what its journal and its images still say.

    Every call that was paid for stays counted. Steps whose image or row is lost are open again: the command that made
    the run, typed with the new folder, makes them anew.
    """
    import sqlite3

    from convergebench.cli.display import say
    from convergebench.cli.verifying import all_problems, listed, problem_count, study_faults
    from convergebench.datasets.atomic import require_free, whole_folder
    from convergebench.errors import StudyError
    from convergebench.images.decode import probe
    from convergebench.store.lock import require_unlocked
    from convergebench.store.recover import recover as rebuild

    require_unlocked(run)
    found = all_problems(run)
    if not found:
        say(f"{run}: sound; there is nothing to recover")
        return
    out = out or run.with_name(f"{run.resolve().name}-recovered")
    require_free(out)
    if run.resolve() == out.resolve() or run.resolve() in out.resolve().parents:
        raise StudyError(f"--out {out} lies in the damaged run; name a new folder beside it")
    try:
        with whole_folder(out) as making:
            recovered = rebuild(run, making, probe=probe, study_faults=study_faults, run=out)
            left = all_problems(making)
    except (OSError, sqlite3.Error) as error:  # of the new folder: what the old one cannot give is passed over
        reason = getattr(error, "strerror", None) or error
        raise StudyError(
            f"{out} could not be made: {reason}; {run} is as it was. Make room, or name a folder elsewhere with --out"
        ) from error
    say(f"{run}: {problem_count(found)}" + listed(found, 5))
    for line in _lines(recovered):
        say(line)
    if left:
        say(f"{out} still has {problem_count(left)}" + listed(left, 5))
    else:
        say(f"{out}: sound")
    say(
        f"go on with: {recovered.command}"
        if recovered.command
        else f"go on with the command that made it and --run {out}"
    )


def _lines(recovered: Recovered) -> list[str]:
    """A small table, then what has to be said."""
    lines = [f"{'':<14}{'kept':>10}{'lost':>10}"]
    for table, kept in recovered.kept.items():
        lost = recovered.lost.get(table, 0)
        if kept or lost or table in recovered.torn:
            unsure = " and what stood on unreadable pages" if table in recovered.torn else ""
            lines.append(f"{table:<14}{kept:>10,}{lost:>10,}{unsure}")
    lines.append(f"spent so far, as the recovered run counts it: ${recovered.dollars:,.4f}")
    return [*lines, *recovered.notes]
