"""The export parts that a study names, loaded and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from convergebench.datasets.parts import ExportPart
from convergebench.datasets.pictured import PicturedPart
from convergebench.errors import StudyError
from convergebench.registry import load


class LoadedParts(NamedTuple):
    """Tables without pictures, and those whose rows hold several."""

    tables: list[ExportPart]
    pictured: list[PicturedPart]


def load_parts(names: Sequence[str]) -> LoadedParts:
    """The parts of these names; two of one table's name, or something else than a part, are refused."""
    found = LoadedParts([], [])
    taken = {"steps", "patches", "without_image"}
    for name in names:
        part = load("exports", name)
        if isinstance(part, ExportPart):
            tables = [part.table]
            found.tables.append(part)
        elif isinstance(part, PicturedPart):
            tables = [*part.tables, part.by_reference.table]
            found.pictured.append(part)
        else:
            raise StudyError(f"export '{name}' should be a convergebench.datasets.parts.ExportPart")
        for table in tables:
            if table.name in taken:
                raise StudyError(f"export '{name}' gives a second table '{table.name}'; give it another name")
            taken.add(table.name)
    return found
