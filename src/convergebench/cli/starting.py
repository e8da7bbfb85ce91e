"""`cbench init`: a folder to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    folder: Annotated[Path, typer.Argument(help="Folder to make; it must be new or empty.")],
    study: Annotated[
        str, typer.Option("--study", help="Kind of study: roundtrip, replicate, audit, factory or restoration.")
    ] = "roundtrip",
) -> None:
    """Lay out a study that runs as it is: a commented study file, your editor as a function, pictures and pairs."""
    from shlex import quote

    from convergebench.cli.display import say
    from convergebench.conductor.starting import lay_out

    for name in lay_out(folder, study):
        say(str(folder / name))
    here = "" if folder.resolve() == Path.cwd() else f"cd {quote(str(folder))} && "
    say(f"next    {here}cbench run study.toml")
