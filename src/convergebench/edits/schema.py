"""The schema of pairs files and sessions files, which users write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, StringConstraints, model_validator

from convergebench.documents import Strict
from convergebench.edits.geometry import geometry_of, plain_words
from convergebench.edits.reversibility import classify
from convergebench.types import KINDS, EditPair, Kind, Operation, Reversibility

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
    """One `[[pair]]` table: at least `id`, `forward` and `backward`."""

    id: Identifier
    category: Category = "own"
    """Pairs of one category are put together in tables."""
    reversibility: Reversibility
    """Unset: by the words (`edits.reversibility`)."""
    kinds: Annotated[tuple[Kind, ...], Field(min_length=1)] = KINDS
    """Kinds of images that the edit is for; unset: all."""
    forward_operation: Operation
    """What the edit does, for checking that it was done; unset: a flip or turn if the words say so, else `change`."""
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
    """Phrasings; `forward` and `backward` of the table itself are short for a single one."""

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, given: Any) -> Any:
        """Fill in what follows from the words; what is wrong with them is left to the checks of the fields."""
        if not isinstance(given, Mapping):
            return given
        row = dict(given)
        if "wordings" in row and {"forward", "backward"} & row.keys():
            raise ValueError("give either `forward` and `backward` or `wordings`, not both")
        if "wordings" not in row:
            if "forward" not in row:
                raise ValueError("`forward` is missing: the instruction of the edit; and `backward`: of its undoing")
            row["wordings"] = [{key: row.pop(key) for key in ("forward", "backward") if key in row}]
        forward, backward = _words(row["wordings"])
        row.setdefault("reversibility", classify(forward, backward))
        if "forward_operation" not in row:
            row["forward_operation"] = _operation(forward)
            if backward:
                undoing = INVERSE.get(row["forward_operation"], "change")
                row.setdefault("backward_operation", _operation(backward, undoing))
        return row

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


INVERSE: dict[Operation, Operation] = {
    "flip-horizontal": "flip-horizontal",
    "flip-vertical": "flip-vertical",
    "rotate-90": "rotate-270",
    "rotate-180": "rotate-180",
    "rotate-270": "rotate-90",
}
"""What undoes an operation, where the words of the undoing do not tell ("turn it back")."""


def _words(wordings: Any) -> tuple[str, str]:
    """The first phrasing; empty texts where there is none yet that could be read."""
    first = wordings[0] if isinstance(wordings, Sequence) and wordings else {}
    given = [first.get(name) if isinstance(first, Mapping) else None for name in ("forward", "backward")]
    forward, backward = (one if isinstance(one, str) else "" for one in given)
    return forward, backward


def _operation(words: str, otherwise: Operation = "change") -> Operation:
    return geometry_of(plain_words(words)) or otherwise


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
