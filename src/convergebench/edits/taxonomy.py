"""The taxonomy of edit types: what a data factory asks for, type by type, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from convergebench.documents import Strict, read_document
from convergebench.errors import StudyError
from convergebench.registry import suggest
from convergebench.types import Operation

DATA = Path(__file__).parent / "data" / "taxonomy.toml"

Content = Literal["person", "text"]
"""What an edit type may need on the picture."""
Scope = Literal["whole", "object", "background", "person", "text", "frame"]
"""Where a change is expected: the whole picture, one thing, all but the main thing, a person, writing, the framing."""


class EditType(Strict):
    """One of the 35 operations."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    name: Annotated[str, Field(min_length=1)]
    """The words of the paper, which are also the `edit_type` of its files."""
    category: Annotated[str, Field(min_length=1)]
    scope: Scope
    needs: Content | None = None
    """What the picture must show for it."""
    operation: Operation = "change"
    """For metrics that check whether it was done."""


class ExcludedType(Strict):
    """An operation that is left out on purpose."""

    name: str
    why: str


class TaxonomyFile(Strict):
    """The whole file."""

    version: Annotated[int, Field(ge=1)]
    type: Annotated[tuple[EditType, ...], Field(min_length=1)]
    excluded: tuple[ExcludedType, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> TaxonomyFile:
        ids = [one.id for one in self.type]
        if len(set(ids)) != len(ids):
            raise ValueError("two edit types have the same id")
        return self


@cache
def taxonomy() -> Mapping[str, EditType]:
    """Every edit type by its id, in the order of the paper."""
    return {one.id: one for one in read_document(DATA, TaxonomyFile).type}


def excluded_types() -> tuple[ExcludedType, ...]:
    """Operations without a type of their own, and why."""
    return read_document(DATA, TaxonomyFile).excluded


def categories() -> tuple[str, ...]:
    """The eight categories, in order."""
    return tuple(dict.fromkeys(one.category for one in taxonomy().values()))


def select_types(names: Sequence[str]) -> tuple[EditType, ...]:
    """Types by id, by category or by the paper's words, each once, in the taxonomy's order; none named: all."""
    known = taxonomy()
    if not names:
        return tuple(known.values())
    chosen: set[str] = set()
    for name in names:
        found = {one.id for one in known.values() if name in (one.id, one.category, one.name)}
        if not found:
            everything = (*known, *categories())
            raise StudyError(f"unknown edit type '{name}'{suggest(name, everything)} (cbench list edit-types)")
        chosen |= found
    return tuple(one for one in known.values() if one.id in chosen)


def type_of_name(name: str) -> EditType | None:
    """The type that a file of the paper calls by this name."""
    return next((one for one in taxonomy().values() if one.name == name), None)
