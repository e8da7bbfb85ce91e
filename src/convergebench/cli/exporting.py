"""`cbench export`: a run as a data set for others, or as one file to send."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FORMS = "html or pdf to send; banana100, imagefolder, parquet, webdataset, hf or pico as a data set"


def export(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    form: Annotated[str, typer.Option("--as", help=f"Form: {FORMS}.")],
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            help="New folder or URL (s3://bucket/prefix) for the data set; file of html or pdf [default: RUN.html]",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the data set [default: the run's name]")] = None,
    licence: Annotated[
        str | None,
        typer.Option(help="Licence of the edited images, where the licence of their source allows it, e.g. CC-BY-4.0."),
    ] = None,
    include_restricted: Annotated[
        bool,
        typer.Option("--include-restricted", help="Include images whose source forbids changes or commercial use."),
    ] = False,
    splits: Annotated[
        str | None,
        typer.Option(
            help="Shares of source images, e.g. 0.8,0.1,0.1; or origin, to separate photographs and drawings."
        ),
    ] = None,
    patches: Annotated[
        int | None, typer.Option(min=16, help="Also cut square patches of this side length in pixels.")
    ] = None,
    patches_per_image: Annotated[int, typer.Option(min=1, max=1000, help="Patches per image.")] = 4,
    seed: Annotated[int, typer.Option(help="Random seed for splits and patch positions.")] = 0,
    shard_mb: Annotated[int, typer.Option(min=1, help="Largest size of a shard in megabytes.")] = 500,
    creator: Annotated[str | None, typer.Option(help="Publisher, for the Croissant file.")] = None,
    url: Annotated[str | None, typer.Option(help="URL where it will be published, for the Croissant file.")] = None,
    max_mb: Annotated[int, typer.Option(min=1, max=1000, help="Largest html file, in megabytes.")] = 20,
) -> None:
    """Write a run as a data set with a card, a Croissant file and checksums; or its report as one file to send."""
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.exporting import DOCUMENTS, export_document, require_form
    from convergebench.conductor.exporting import export as export_run
    from convergebench.conductor.storing import exporting_to
    from convergebench.datasets.export import ExportOptions
    from convergebench.datasets.patches import PatchPlan
    from convergebench.datasets.splits import read_splits
    from convergebench.errors import StudyError
    from convergebench.store.remote.address import is_url

    require_form(form)
    if form in DOCUMENTS:
        given = {"name": name, "licence": licence, "splits": splits, "patches": patches, "creator": creator, "url": url}
        for flag in [flag for flag, value in given.items() if value is not None]:
            raise StudyError(f"--{flag} is for data sets; leave it out with --as {form}")
        with exporting_to(out, document=True) as target:
            said = export_document(run, form, target, most_mb=max_mb)
        Terminal().say(said if target is None else said.replace(str(target), str(out), 1))
        return
    if out is None:
        raise StudyError(f"--as {form} writes a folder; name a new one with --out")
    options = ExportOptions(
        form=form,
        name=name,
        licence=licence,
        include_restricted=include_restricted,
        splits=read_splits(splits),
        patches=None if patches is None else PatchPlan(patches, patches_per_image, seed),
        seed=seed,
        shard_bytes=shard_mb * 1_000_000,
        creator=creator,
        url=url,
    )
    terminal = Terminal()
    with exporting_to(out) as target:
        assert target is not None
        made = export_run(run, target, options, terminal)
    for notice in made.notices:
        terminal.note(f"note: {notice}")
    tally = made.tally
    patched = f", {tally.patches:,} patches" if tally.patches else ""
    terminal.say(f"{tally.pictures:,} pictures of {tally.chains.total():,} chains{patched} in {out}")
    if is_url(out):
        terminal.say(f"next    read {out}/README.md before you publish it")
        return
    card = Path(out) / "README.md"
    terminal.say(f"next    (cd {out} && sha256sum --quiet -c checksums.sha256); read {card} before you publish it")
