"""`cbench submit`: a run as a result bundle for a leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def submit(
    run: Annotated[Path | None, typer.Argument(help="Run directory.")] = None,
    into: Annotated[
        Path | None, typer.Option("--into", help="File to write [default: NAME.cbench.zip in this folder]")
    ] = None,
    by: Annotated[str, typer.Option("--by", help="Your name or your group's, as the leaderboard shows it.")] = "",
    contact: Annotated[str, typer.Option(help="How a maintainer reaches you; public, so perhaps a web page.")] = "",
    key: Annotated[Path | None, typer.Option("--key", help="Sign with this private key.")] = None,
    challenge: Annotated[str, typer.Option(help="Word from a maintainer that decides which images are included.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go in and how large it is.")] = False,
    new_key: Annotated[Path | None, typer.Option("--new-key", help="Only make a private key in this new file.")] = None,
) -> None:
    """Make a result bundle of a finished run: tables, sample images, checksums and a hash chain, signed if asked."""
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.submitting import Submitter
    from convergebench.conductor.submitting import submit as make
    from convergebench.errors import StudyError

    terminal = Terminal()
    if new_key is not None:
        from convergebench.leaderboard.signing import make_key

        if run is not None:
            raise StudyError("--new-key only makes a key; submit the run with a second command and --key")
        terminal.say(f"{new_key}: private key; keep it secret. Its public name is {make_key(new_key)}")
        return
    if run is None:
        raise StudyError("name a run: cbench submit RUN")
    made, target = make(run, Submitter(by, contact, key, challenge), into, dry_run=dry_run)
    images = [name for name in made.members if name.startswith("images/")]
    rows = sum(made.about["counts"].values())
    if dry_run:
        for name, size in made.members.items():
            if name not in images:
                terminal.say(f"{size:>12,}  {name}")
        terminal.say(f"{sum(made.members[name] for name in images):>12,}  {len(images)} sample images")
    said = "would be " if dry_run else ""
    terminal.say(f"{target}: {said}{len(made.data) / 1e6:.1f} MB, {rows:,} rows, {len(images)} sample images")
    terminal.say(f"head    {made.head}")
    if made.labels:
        terminal.say(f"labels  {'; '.join(made.labels)}")
    if not dry_run:
        terminal.say(f"next    cbench leaderboard check {target}; the images in it become public when you send it")
