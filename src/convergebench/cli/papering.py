"""`cbench paper`: runs as LaTeX for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def paper(
    runs: Annotated[list[Path], typer.Argument(help="Run directories, one or more.", metavar="RUN…")],
    into: Annotated[
        Path | None, typer.Option("--into", help="Folder to write [default: paper-RUN in the current folder]")
    ] = None,
    align: Annotated[
        str | None, typer.Option(help="Use the measurements made with this alignment [default: the run's own]")
    ] = None,
) -> None:
    """Write tables, figures and numbers of runs as LaTeX that compiles as it is."""
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.papering import write_paper

    terminal = Terminal()
    made = write_paper(runs, into, align, observer=terminal)
    for name in made.kept:
        terminal.note(f"note: {made.folder / name} was edited by hand and is left unchanged")
    counts = f"{made.tables} tables, {made.figures} figures, {made.numbers} numbers"
    terminal.say(f"{counts} in {made.folder}")
    terminal.say(f"next    (cd {made.folder} && latexmk -pdf main.tex); read {made.folder / 'README.md'}")
