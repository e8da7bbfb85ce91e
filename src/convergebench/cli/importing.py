"""`cbench import`: score chains that somebody else made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from convergebench.store.manifest import Manifest
    from convergebench.types import Kind

SHOWN = 10
"""Broken chains that are named one by one; the list beside the run has them all."""


def import_recordings(
    place: Annotated[Path, typer.Argument(metavar="FOLDER|FILE", help="The set's folder, or its table.")],
    run: Annotated[Path, typer.Option("--run", help="Run directory, new or to add to.")],
    layout: Annotated[
        str,
        typer.Option(
            "--as",
            help="How the set is laid out: auto, exported, roundtrip, magicbrush, mse-bench, edival, pico, banana100.",
        ),
    ] = "auto",
    editor: Annotated[
        str | None,
        typer.Option("--editor", help="Who made the chains, where the set does not say; else only this one's chains."),
    ] = None,
    images: Annotated[
        Path | None, typer.Option("--images", help="Folder with pictures that the set only names.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="What the pictures show, where the set does not say: face, object, scene."),
    ] = None,
    variant: Annotated[
        str | None, typer.Option("--variant", help="The variant whose words were asked, where the set has no words.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many chains of each editor.")] = None,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave broken chains out, and say which, instead of stopping.")
    ] = False,
) -> None:
    """Import chains made elsewhere into a run; nothing is called, nothing is fetched, nothing is re-encoded."""
    from convergebench.cli.display import say, watch
    from convergebench.cli.flags import require_names
    from convergebench.cli.interrupt import run_engine
    from convergebench.cli.plain import one_line
    from convergebench.cli.running import tell_failures
    from convergebench.datasets.chains import Beside
    from convergebench.datasets.layouts import read_chains
    from convergebench.engine.progress import Progress
    from convergebench.engine.recordings import Told, prepare_recordings
    from convergebench.engine.session import begin
    from convergebench.errors import StudyError
    from convergebench.store.run import Run

    require_names(run, place)
    if images is not None and not images.is_dir():
        raise StudyError(f"--images {images} is no folder")
    name, why, found = read_chains(place, layout, Beside(images))
    say(one_line(f"read as {name}: {why}; {len(found.chains)} chains"))
    for note in found.notes:
        say(one_line(f"note    {note}"))
    there, known = _already_there(run)
    told = Told(editor, _kind(kind), variant, limit)
    reading = Progress()
    with watch("reading", reading, unit="images"):
        prepared = prepare_recordings(
            found.chains, told, there=there, known=known, faults=found.faults, progress=reading
        )
    if prepared.left_out and not skip_broken:
        more = f" and {len(prepared.left_out) - 1} more" if len(prepared.left_out) > 1 else ""
        raise StudyError(
            f"{prepared.left_out[0]}{more}; nothing was imported. Mend the set, or import the other "
            f"{len(prepared.chains)} chains with --skip-broken"
        )
    with Run.create(run) as opened:
        begin(opened, prepared)
        progress = Progress()
        with watch("importing", progress, unit="images"):
            ended = run_engine(opened, prepared, progress, max_cost=None, reuse=[])
        failed = tell_failures(opened, {(chain.editor, chain.case.id) for chain in prepared.chains})
    if ended.stopped is not None:
        say(f"stopped: {ended.stopped}. Nothing is lost; the same command goes on")
        raise typer.Exit(130 if ended.interrupted else 3)
    _say_left_out(run, prepared.left_out)
    whole = [chain for chain in prepared.chains if (chain.editor, chain.case.id) not in failed]
    steps = sum(chain.study.calls(chain.case) for chain in whole)
    say(one_line(f"{len(whole)} chains, {steps} edits by {', '.join(prepared.editors)} in {run}"))
    if failed:
        raise typer.Exit(3)
    group = "default" if prepared.study == "roundtrip" else "replicate"
    say(f"next    cbench measure {run} --metric {group} && cbench report {run}")


def _kind(word: str | None) -> Kind | None:
    from convergebench.errors import StudyError
    from convergebench.registry import suggest
    from convergebench.types import KINDS

    if word is None:
        return None
    for kind in KINDS:
        if kind == word:
            return kind
    raise StudyError(f"--kind {word} is none of {', '.join(KINDS)}{suggest(word, KINDS)}")


def _already_there(run: Path) -> tuple[Manifest | None, frozenset[str]]:
    """What a run that is there says of itself, and the images it holds."""
    from convergebench.store.journal import Records
    from convergebench.store.manifest import read_manifest
    from convergebench.store.run import is_complete

    if not is_complete(run):
        return None, frozenset()
    records = Records(run / "run.sqlite")
    try:
        return read_manifest(run / "manifest.json"), frozenset(id for (id,) in records.rows("select id from images"))
    finally:
        records.close()


def _say_left_out(run: Path, left_out: tuple[str, ...]) -> None:
    from convergebench.cli.display import say
    from convergebench.cli.plain import one_line

    if not left_out:
        return
    lines = [one_line(line) for line in left_out]
    (run / "left-out.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for line in lines[:SHOWN]:
        say(f"left out: {line}")
    say(f"{len(left_out)} broken chains were left out; {run / 'left-out.txt'} names them all")
