"""`cbench degrade`: spoilt copies of pictures, as a suite that restorers can be tried on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def degrade(
    suite: Annotated[str, typer.Argument(help="Clean images: a suite name, a folder or a manifest.")],
    out: Annotated[
        Path, typer.Option("--out", help="New folder for the degraded copies, the clean images and a contact sheet.")
    ],
    degradation: Annotated[
        list[str] | None,
        typer.Option(help="Degradation to apply; repeatable (cbench list degradations). [default: all]"),
    ] = None,
    severity: Annotated[
        float,
        typer.Option(min=0.01, max=4.0, help="Strength of the degradation: 1 is typical, 2 about twice as strong."),
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    limit: Annotated[int, typer.Option(min=0, help="Use at most this many clean images; 0 = all.")] = 0,
    partial: Annotated[bool, typer.Option("--partial", help="Leave out images that were not fetched.")] = False,
) -> None:
    """Write degraded copies of every image next to the clean one, as a suite with a contact sheet.

    The same command always gives the same images. After an interruption, run it again to continue.
    """
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.degrading import DegradeOptions
    from convergebench.conductor.degrading import degrade as write_set

    options = DegradeOptions(tuple(degradation or ("all",)), severity, seed, limit, partial)
    terminal = Terminal()
    made = write_set(suite, out, options, terminal)
    pictures = f"{made.copies} degraded copies of {made.clean} picture{'s' * (made.clean != 1)}"
    terminal.say(f"{pictures} in {out}" if made.written else f"already there: {pictures} in {out}")
    terminal.say(f"look at {out / made.sheet}")
    terminal.say(
        f'next    in a study file: images = {{suite = "{out / made.manifest}"}}, restoration = {{scenes = []}}'
    )
