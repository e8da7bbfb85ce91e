"""`cbench push`: a run as a data set on the Hugging Face Hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MOST_LISTED = 20


def push(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    repo: Annotated[str, typer.Argument(help="Data-set repository, OWNER/NAME; made if it is not there.")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Send it. Without this, only what would be sent is listed.")
    ] = False,
    public: Annotated[bool, typer.Option("--public", help="Everybody may see it [default: private]")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the files to send [default: push/OWNER--NAME]")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the data set. Unset: the run's.")] = None,
    licence: Annotated[
        str | None, typer.Option(help="Licence of edited pictures, where their source's allows it: CC-BY-4.0.")
    ] = None,
    include_restricted: Annotated[
        bool, typer.Option("--include-restricted", help="Also pictures whose source forbids changes or sale.")
    ] = False,
) -> None:
    """Publish a run as a data set of the Hugging Face Hub; the token is read from HF_TOKEN.

    First without --yes: the data set is written into a folder and listed, and nothing leaves the machine.
    """
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.pushing import send, stage
    from convergebench.datasets.export import ExportOptions

    terminal = Terminal()
    options = ExportOptions(form="hf", name=name, licence=licence, include_restricted=include_restricted)
    staged = stage(run, repo, options, private=not public, out=out, observer=terminal)
    plan = staged.plan
    for notice in staged.notices:
        terminal.note(f"note: {notice}")
    largest = sorted(plan.files, key=lambda one: -one[1])[:MOST_LISTED]
    for path, size in largest:
        terminal.say(f"{_bytes(size):>10}  {path}")
    if len(plan.files) > len(largest):
        terminal.say(f"{'':>10}  … and {len(plan.files) - len(largest):,} smaller files")
    terminal.say(f"{_bytes(plan.bytes):>10}  in {len(plan.files):,} files, from {plan.folder}")
    terminal.say(f"to          {plan.address}")
    terminal.say(f"visibility  {'private' if plan.private else 'public: everybody may see it'}")
    terminal.say(f"licence     {staged.licence} (see {plan.folder / 'README.md'})")
    if not yes:
        terminal.say("nothing was sent; read the card, then type the same command with --yes")
        return
    terminal.say(f"sent        {send(staged, terminal)}")


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size:,} B"
