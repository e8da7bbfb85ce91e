"""`cbench backup` and `cbench gc`: a run's images at a URL, and what a run no longer needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Keep images, and a backup of the journal, at this URL too: s3://bucket/prefix, file:///folder …",
    ),
]
CacheMb = Annotated[
    int | None, typer.Option(min=0, help="With a store: most megabytes of images in the folder [default: all]")
]


def backup(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    store: Store = None,
    cache_mb: CacheMb = None,
) -> None:
    """Bring everything of a run to its store, and wait for it; with --store, for a run that has none yet."""
    from convergebench.cli.display import say
    from convergebench.conductor.storing import back_up

    done = back_up(run, store, cache_mb=cache_mb)
    say(f"{run}: {done.images:,} images and the journal are at {done.url}")
    say(f"on another computer, type: cbench recover {done.url} --run FOLDER")


def gc(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    delete: Annotated[bool, typer.Option("--delete", help="Remove it; without this, it is only listed.")] = False,
    local: Annotated[bool, typer.Option("--local", help="Look in the folder only, not at its store.")] = False,
    cache_mb: Annotated[
        int | None,
        typer.Option(min=0, help="Also remove images from the folder that the store has, until so many MB are left."),
    ] = None,
) -> None:
    """Remove what no row of the journal names: left-over images, crops, temporary files, old backups at the store."""
    from convergebench.cli.display import say
    from convergebench.errors import StudyError
    from convergebench.store.garbage import collect, find_garbage

    if cache_mb is not None and not delete:
        raise StudyError("--cache-mb removes images from the folder; type it with --delete")
    found = collect(run, store=not local, cache_mb=cache_mb) if delete else find_garbage(run, store=not local)
    done = "removed" if delete else "would remove"
    count = 0
    for where, kinds in ((str(run), found.here), (found.url, found.there)):
        for what, files in kinds.items():
            count += len(files)
            say(f"{done} {len(files):,} {what} in {where}: {_size(sum(files.values()))}")
    if found.evicted:
        say(f"removed {_size(found.evicted)} of images from {run}; the store has them")
    if found.note:
        say(f"note: {found.note}")
    if not count and not found.evicted:
        say(f"{run}: there is nothing to remove")
    elif not delete:
        say(f"nothing was removed; to remove it, type: cbench gc {run} --delete")


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count:,} bytes"
