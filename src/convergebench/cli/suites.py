"""`cbench suite`: look at source images and curate new suites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Source images: look at a suite, write it out, curate a new one.", no_args_is_help=True)


@app.command("show")
def show(
    suite: Annotated[str, typer.Argument(help="Suite name, folder or manifest.")],
) -> None:
    """List a suite's images with kind, size, licence and source."""
    from convergebench.cli.display import say
    from convergebench.images.suite import load_suite

    loaded = load_suite(suite)
    for image in loaded.images:
        size = f"{image.width}×{image.height}"
        say(f"{image.id:<28} {image.kind:<7} {size:>11}  {image.licence:<16}  {image.source}")
    kinds = [image.kind for image in loaded.images]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    say(f"{len(kinds)} images ({counts}), content {loaded.sha256[:16]}")


@app.command("export")
def export(
    suite: Annotated[str, typer.Argument(help="Suite name, folder or manifest.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write the images and their manifest to.")],
) -> None:
    """Write a suite's images and a locked manifest into a folder."""
    from convergebench.cli.display import say
    from convergebench.images.export import export_suite
    from convergebench.images.suite import load_suite

    say(f"written: {export_suite(load_suite(suite), out)}")


@app.command("curate")
def curate(
    source: Annotated[str, typer.Option("--from", help="Folder, local copy of a data set, or hub:OWNER/NAME.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the images and their manifest.")] = Path("suite"),
    n: Annotated[int, typer.Option("--n", min=1, help="How many images.")] = 100,
    seed: Annotated[int, typer.Option(help="Which selection.")] = 0,
) -> None:
    """Choose a stratified, locked selection of images and write down where each came from and its sha256."""
    from convergebench.cli.display import say
    from convergebench.images.curate import curate as choose

    manifest = choose(source, n=n, seed=seed, out=out)
    say(f"written: {manifest} (use it with: cbench run studies/roundtrip.toml --suite {manifest})")
