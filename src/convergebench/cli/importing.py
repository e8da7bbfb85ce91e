"""`cbench import`: score chains that somebody else made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SHOWN = 10
"""Broken chains that are named one by one; the list beside the run has them all."""


def import_recordings(
    place: Annotated[Path, typer.Argument(metavar="FOLDER|FILE", help="Folder of the data set, or its table.")],
    run: Annotated[Path, typer.Option("--run", help="Run directory, new or existing.")],
    layout: Annotated[
        str,
        typer.Option(
            "--as",
            help="Layout of the data set: auto, exported, roundtrip, magicbrush, mse-bench, edival, pico, "
            "restoration, banana100.",
        ),
    ] = "auto",
    editor: Annotated[
        str | None,
        typer.Option(
            "--editor",
            help="Editor that made the chains, if the data set does not say; otherwise imports "
            "only the chains of this editor.",
        ),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(
            "--images", help="Folder with images that the data set refers to but does not contain, such as the sources."
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="What the images show, if the data set does not say: face, object, scene."),
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option("--variant", help="Variant whose instructions were used, if the data set has no instructions."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Import at most this many chains per editor.")
    ] = None,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Skip broken chains and list them, instead of stopping.")
    ] = False,
) -> None:
    """Import chains made elsewhere into a run; calls no model, downloads nothing, re-encodes nothing."""
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.importing import ImportOptions, import_chains
    from convergebench.studies.base import study_of
    from convergebench.texts import one_line

    terminal = Terminal()
    options = ImportOptions(layout, editor, images, kind, variant, limit, skip_broken)
    done = import_chains(place, run, options, terminal)
    if done.stopped is not None:
        terminal.say(f"stopped: {done.stopped}. Nothing is lost; run the same command to continue")
        raise typer.Exit(130 if done.interrupted else 3)
    for line in done.left_out[:SHOWN]:
        terminal.say(f"left out: {one_line(line)}")
    if done.left_out:
        terminal.say(f"{len(done.left_out)} broken chains were left out; {run / 'left-out.txt'} names them all")
    terminal.say(one_line(f"{done.chains} chains, {done.edits} edits by {', '.join(done.editors)} in {run}"))
    if done.failed:
        raise typer.Exit(3)
    terminal.say(f"next    cbench measure {run} --metric {study_of(done.study).metrics} && cbench report {run}")
