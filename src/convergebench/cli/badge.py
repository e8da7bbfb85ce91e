"""`cbench badge`: a badge for a model card."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def badge(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    editor: Annotated[
        str | None, typer.Option("--editor", "-e", help="Editor to show [default: the only one of the run]")
    ] = None,
    of: Annotated[str, typer.Option(help="What it shows: score or half-life.")] = "score",
    into: Annotated[Path | None, typer.Option("--into", help="SVG file to write [default: badge.svg]")] = None,
) -> None:
    """Write an SVG badge with an editor's score or half-life, its interval and n; print the Markdown to paste."""
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.badges import badge as write_badge

    made = write_badge(run, editor=editor, of=of, into=into)
    terminal = Terminal()
    terminal.say(f"{made.path}: {made.title}")
    terminal.say(made.markdown)
