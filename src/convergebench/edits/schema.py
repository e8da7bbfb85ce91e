"""The schema of pairs files and sessions files, which users write."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from convergebench.documents import Strict
from convergebench.types import EditPair, Kind, Operation, Reversibility

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Category = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(_[a-z0-9]+)*$")]
Words = Annotated[str, StringConstraints(min_length=3, max_length=2000, strip_whitespace=True)]
Nouns = tuple[Annotated[str, StringConstraints(min_length=2, max_length=60, strip_whitespace=True)], ...]


class Wording(Strict):
    """One phrasing of an edit and of its reversal."""

    forward: Words
    backward: Words | None = None
    """None: the edit is not reversed, so it is for studies that only go forward."""


class PairRow(Strict):
    """One `[[pair]]` table."""

    id: Identifier
    category: Category
    reversibility: Reversibility
    kinds: Annotated[tuple[Kind, ...], Field(min_length=1)]
    forward_operation: Operation
    backward_operation: Operation | None = None
    before: str = ""
    """What the picture shows without the edit: "a portrait of a person". Only for metrics that use captions."""
    after: str = ""
    """What it shows with it: "a portrait of a person wearing glasses"."""
    adds: Nouns = ()
    """What the forward edit adds, by all its names; images listed as showing one of them are left out."""
    needs: Nouns = ()
    """What the edit acts on, by all its names; images listed as showing none of them are left out."""
    wordings: Annotated[tuple[Wording, ...], Field(min_length=1)]

    def pairs(self, wordings: int) -> tuple[EditPair, ...]:
        """The first `wordings` phrasings (or all, if fewer) as edit pairs."""
        return tuple(
            EditPair(
                id=self.id,
                category=self.category,
                reversibility=self.reversibility,
                kinds=self.kinds,
                forward=words.forward,
                backward=words.backward,
                forward_operation=self.forward_operation,
                backward_operation=self.backward_operation,
                wording=index,
                before=self.before,
                after=self.after,
                adds=self.adds,
                needs=self.needs,
            )
            for index, words in enumerate(self.wordings[:wordings])
        )


class PairsFile(Strict):
    """A whole file: the pairs in order, and named sets of them."""

    sets: dict[Identifier, tuple[str, ...]] = Field(default_factory=dict)
    pair: Annotated[tuple[PairRow, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_fit(self) -> PairsFile:
        ids = [row.id for row in self.pair]
        repeated = sorted({one for one in ids if ids.count(one) > 1})
        if repeated:
            raise ValueError(f"pair ids must be unique; twice: {', '.join(repeated)}")
        for name, members in self.sets.items():
            unknown = [member for member in members if member not in ids]
            if unknown:
                raise ValueError(f"set '{name}' names pairs that do not exist: {', '.join(unknown)}")
        return self


class SessionRow(Strict):
    """One `[[session]]` table."""

    id: Identifier
    title: Words
    kinds: Annotated[tuple[Kind, ...], Field(min_length=1)]
    adds: Nouns = ()
    """What its steps add, by all names; as in a pair."""
    needs: Nouns = ()
    """What its first steps act on, by all names; as in a pair."""
    steps: Annotated[tuple[Words, ...], Field(min_length=1)]


class SessionsFile(Strict):
    """A whole sessions file."""

    session: Annotated[tuple[SessionRow, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> SessionsFile:
        ids = [row.id for row in self.session]
        if len(set(ids)) != len(ids):
            raise ValueError("session ids must be unique")
        return self
