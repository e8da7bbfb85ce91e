"""`cbench recover`: a damaged run, rebuilt beside the old one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from convergebench.store.recover import Recovered


def recover(
    run: Annotated[
        str,
        typer.Argument(help="Damaged run directory, or URL of a store; nothing there is changed.", metavar="RUN|URL"),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "--run", help="New folder for the run [default: RUN-recovered]")
    ] = None,
    cache_mb: Annotated[
        int | None, typer.Option(min=0, help="Of a store: most megabytes of images to keep in the new folder.")
    ] = None,
) -> None:
    """Rebuild a damaged run in a new folder from its readable rows and images; or get a run back from its store.

    Every paid call stays counted. Steps whose image or row is lost become open again: to make them again, run the
    command that made the run with --run set to the new folder.
    """
    from convergebench.errors import StudyError

    if "://" in str(run):
        _from_store(run, out, cache_mb)
        return
    if cache_mb is not None:
        raise StudyError("--cache-mb is for runs that come from a store; leave it out")
    _rebuilt(Path(run), out)


def _from_store(url: str, out: Path | None, cache_mb: int | None) -> None:
    """A run on a fresh machine, from its URL alone."""
    from convergebench.cli.display import say
    from convergebench.datasets.atomic import require_free, whole_folder
    from convergebench.errors import StudyError
    from convergebench.store.manifest import read_manifest
    from convergebench.store.recover import command_to_go_on
    from convergebench.store.remote.address import parse_address
    from convergebench.store.remote.restore import restore

    address = parse_address(url, "recover")
    if out is None:
        raise StudyError(f"name a new folder for the run: cbench recover {address.url} --run FOLDER")
    require_free(out, "--run")
    try:
        with whole_folder(out, flag="--run") as making:
            found = restore(address, making, cache_mb=cache_mb)
    except OSError as error:
        raise StudyError(
            f"{out} could not be made: {error.strerror or error}; nothing at the store is changed"
        ) from error
    for line in found.passed_over:
        say(f"a newer backup is damaged and was passed over: {line}")
    say(f"{out}: '{found.run}' as of {found.made:%Y-%m-%d %H:%M:%S} UTC, {found.images:,} images")
    if found.missing:
        say(f"{len(found.missing):,} images are missing at the store; type: cbench verify {out}")
    say("images stay at the store and are fetched when they are needed")
    has_manifest = (out / "manifest.json").is_file()
    command = command_to_go_on(read_manifest(out / "manifest.json").sessions, out) if has_manifest else ""
    say(f"continue with: {command}" if command else f"continue with the command that made it and --run {out}")


def _rebuilt(run: Path, out: Path | None) -> None:
    """A damaged run, beside the old one."""
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
        say(f"{run}: intact; there is nothing to recover")
        return
    out = out or run.with_name(f"{run.resolve().name}-recovered")
    require_free(out)
    if run.resolve() == out.resolve() or run.resolve() in out.resolve().parents:
        raise StudyError(f"--out {out} is inside the damaged run; name a new folder outside it")
    try:
        with whole_folder(out) as making:
            recovered = rebuild(run, making, probe=probe, study_faults=study_faults, run=out)
            left = all_problems(making)
    except (OSError, sqlite3.Error) as error:  # of the new folder: what the old one cannot give is passed over
        reason = getattr(error, "strerror", None) or error
        raise StudyError(
            f"{out} could not be made: {reason}; {run} is unchanged. Free some disk space, or name a folder "
            f"elsewhere with --out"
        ) from error
    say(f"{run}: {problem_count(found)}" + listed(found, 5))
    for line in _lines(recovered):
        say(line)
    if left:
        say(f"{out} still has {problem_count(left)}" + listed(left, 5))
    else:
        say(f"{out}: intact")
    say(
        f"continue with: {recovered.command}"
        if recovered.command
        else f"continue with the command that made it and --run {out}"
    )


def _lines(recovered: Recovered) -> list[str]:
    """A small table, then what has to be said."""
    lines = [f"{'':<14}{'kept':>10}{'lost':>10}"]
    for table, kept in recovered.kept.items():
        lost = recovered.lost.get(table, 0)
        if kept or lost or table in recovered.torn:
            unsure = " and what was on unreadable pages" if table in recovered.torn else ""
            lines.append(f"{table:<14}{kept:>10,}{lost:>10,}{unsure}")
    lines.append(f"spent so far, as the recovered run counts it: ${recovered.dollars:,.4f}")
    return [*lines, *recovered.notes]
