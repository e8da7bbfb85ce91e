"""`cbench verify`: does a run still hold what it says?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

SHOWN = 50
"""So many problems are listed; the others are counted."""


def verify(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    store: Annotated[
        str | None, typer.Option("--store", help="Confirm the URL that a received run names as its store.")
    ] = None,
    local: Annotated[bool, typer.Option("--local", help="Check the folder only, not its store.")] = False,
) -> None:
    """Check manifest, database, keys and the hash of every image, in the folder and at its store; list all damage."""
    from convergebench.cli.display import say
    from convergebench.errors import StudyError
    from convergebench.store.verify import totals

    if store is not None:
        from convergebench.store.remote.settings import confirm_typed

        confirm_typed(run, store)
    found = all_problems(run)
    checked = [] if local else _at_store(run, found)
    if found:
        raise StudyError(
            f"{run} has {problem_count(found)}; everything not listed is intact. Restore the files "
            f"from a copy, or rebuild the run with: cbench recover {run}{listed(found, SHOWN)}"
        )
    say(f"{run}: intact ({totals(run)})")
    for line in checked:
        say(line)


def _at_store(run: Path, found: list[str]) -> list[str]:
    """Add what is wrong at the run's store; lines about what is not."""
    from convergebench.store.images import STORE

    if not (run / STORE).is_file():
        return []
    from convergebench.store.remote.checking import check_store
    from convergebench.store.verify import stored_images

    checked = check_store(run, stored_images(run))
    if checked is None:
        return []
    found += checked.faults
    later = f"; {checked.not_yet:,} are not there yet (cbench backup {run})" if checked.not_yet else ""
    return [f"{checked.url}: intact ({checked.read:,} images and the backup of the journal){later}"]


def all_problems(run: Path) -> list[str]:
    """Everything that is wrong with a run, the values of its study included."""
    from convergebench.errors import StudyError
    from convergebench.store.manifest import read_manifest
    from convergebench.store.verify import problems

    found = problems(run)
    with suppress(StudyError):  # a manifest that cannot be read is among the problems already
        spec = read_manifest(run / "manifest.json").spec
        found += [f"manifest.json: spec.{'.'.join(place)}: {fault}" for place, fault in study_faults(spec)]
    return found


def study_faults(spec: Mapping[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    """Places of a study whose values are of no use, and why; keys that only other versions know are left alone."""
    from pydantic import ValidationError

    from convergebench.errors import ConvergeBenchError
    from convergebench.studies.spec import StudySpec, file_model

    if not spec:
        return []
    try:
        model = file_model(str(spec.get("study", "")))
    except ConvergeBenchError:  # a study of another package, which is not here: what all studies have can be looked at
        model = StudySpec
    try:
        model.model_validate(spec)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        return [
            (tuple(str(part) for part in fault["loc"]), fault["msg"])
            for fault in faults
            if fault["type"] != "extra_forbidden"
        ]
    return []


def problem_count(found: Sequence[str]) -> str:
    """How many there are, in words."""
    return "1 problem" if len(found) == 1 else f"{len(found):,} problems"


def listed(lines: Sequence[str], most: int) -> str:
    """Lines below each other, as `one_line` leaves them."""
    more = [f"and {len(lines) - most:,} more"] if len(lines) > most else []
    return ":\n  " + "\n  ".join(" ".join(line.split()) or "(nothing)" for line in [*lines[:most], *more])
