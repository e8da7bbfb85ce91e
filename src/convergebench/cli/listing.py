"""`cbench list`: what there is."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

import typer


class Shelf(StrEnum):
    """What can be listed."""

    editors = "editors"
    metrics = "metrics"
    suites = "suites"
    pairs = "pairs"
    studies = "studies"
    variants = "variants"
    detectors = "detectors"
    degradations = "degradations"
    edit_types = "edit-types"
    study_files = "study-files"


MAY_LACK = {
    Shelf.metrics: ("licence", "range"),
    Shelf.pairs: ("class", "category"),
    Shelf.variants: ("words by", "cycle"),
}
"""Columns that a narrow terminal does without."""


def list_names(
    shelf: Annotated[Shelf, typer.Argument(help="What to list.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List what there is by name: editors, metrics, suites, edit pairs, studies and the rest."""
    import json

    from convergebench.cli.display import rows_as_text, say
    from convergebench.conductor import listing

    rows = {
        "editors": listing.editor_rows,
        "metrics": listing.metric_rows,
        "suites": listing.suite_rows,
        "pairs": listing.pair_rows,
        "studies": listing.study_rows,
        "variants": listing.variant_rows,
        "detectors": listing.detector_rows,
        "degradations": listing.degradation_rows,
        "edit-types": listing.edit_type_rows,
        "study-files": listing.study_file_rows,
    }[shelf]()
    if as_json:
        say(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    if shelf == Shelf.editors:
        say(_editors_as_text(rows))
        return
    wants = [(next(iter(row.values())), row.pop("lacks", "")) for row in rows]
    say(rows_as_text(rows, may_lack=MAY_LACK.get(shelf, ())))
    if shelf == Shelf.studies:
        say("\nstudy files that come with the package (cbench run NAME):")
        say(rows_as_text(listing.study_file_rows()))
    if any(lack for _, lack in wants):
        say("\nneeded before they can run here:")
        say("\n".join(f"  {name}  {lack}" for name, lack in wants if lack))


def _editors_as_text(rows: list[dict[str, Any]]) -> str:
    """The table, then what is missing, said once for all that lack the same."""
    from convergebench.cli.display import rows_as_text

    columns = ("editor", "by", "here", "dollars", "takes", "what it does")
    alive = [row for row in rows if not _ended(row)]
    text = rows_as_text([{column: row[column] for column in columns} for row in alive], may_lack=("takes", "dollars"))
    return "\n".join([text, *_missing(alive), *_endings(rows)])


def _ended(row: dict[str, Any]) -> bool:
    return any("was shut down" in lack for lack in row["lacks"])


def _missing(rows: list[dict[str, Any]]) -> Iterator[str]:
    who: dict[str, list[str]] = {}
    for row in rows:
        for lack in row["lacks"]:
            who.setdefault(lack, []).append(row["editor"])
    if who:
        yield "\nneeded before they can run here:"
    for lack, names in who.items():
        yield f"{_wrapped(', '.join(names))}\n    {lack}"


def _wrapped(text: str) -> str:
    from textwrap import fill

    from convergebench.cli.display import width_of_terminal

    return fill(
        text,
        width_of_terminal() or 10**6,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _endings(rows: list[dict[str, Any]]) -> Iterator[str]:
    ended = [row for row in rows if _ended(row)]
    ending = [row for row in rows if row["retires"] and not _ended(row)]
    if ended:
        yield "\nno longer available:"
        yield from (f"  {row['editor']} ended on {row['retires']}; use {row['successor']}" for row in ended)
    if ending:
        yield "\nwill end:"
        yield from (f"  {row['editor']} on {row['retires']}; then {row['successor']}" for row in ending)
