"""`cbench verify`: does a run still hold what it says?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

SHOWN = 50
"""So many problems are listed; the others are counted."""


def verify(run: Annotated[Path, typer.Argument(help="Run directory.")]) -> None:
    """Check manifest, database and the hash of every stored image; list everything that is damaged."""
    from convergebench.cli.display import say
    from convergebench.errors import StudyError
    from convergebench.store.verify import totals

    found = all_problems(run)
    if found:
        raise StudyError(
            f"{run} has {problem_count(found)}; everything not listed is intact. Restore the files "
            f"from a copy, or rebuild the run with: cbench recover {run}{listed(found, SHOWN)}"
        )
    say(f"{run}: intact ({totals(run)})")


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
