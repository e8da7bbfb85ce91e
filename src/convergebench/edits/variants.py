"""Variants: what a chain of many steps asks for, as data. One variant is one way to edit a picture again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from convergebench.documents import Strict, read_document
from convergebench.edits.schema import Identifier, Words
from convergebench.edits.sessions import load_sessions
from convergebench.errors import StudyError
from convergebench.registry import suggest
from convergebench.types import KINDS, Kind, Operation, Settings

DATA = Path(__file__).parent / "data" / "variants.toml"

Compared = Literal["whole", "around", "cycle"]
"""Whether every step should show the source, only what lies around a change, or only the end of a cycle."""

INDEPENDENT = "-independent"
"""Added to the label of a variant whose steps all start from the untouched picture."""


@dataclass(frozen=True, slots=True)
class VariantStep:
    """One wish: the words, and what they ask for."""

    words: str
    operation: Operation


@dataclass(frozen=True, slots=True)
class Variant:
    """A chain's wishes, gone through in turn, again and again."""

    id: str
    family: str
    origin: str
    """Who wrote the words: `Banana100` where that paper prints them, else `ours`, or whoever wrote the file."""
    title: str
    steps: tuple[VariantStep, ...]
    compared: Compared = "whole"
    kinds: tuple[Kind, ...] = KINDS
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of its own, over those of the study."""
    baseline: str | None = None
    """The variant that it should be held against."""
    ends: bool = False
    """Whether it ends with its last wish, as a person's session does, instead of beginning again."""
    independent: bool = False
    """Whether every step (where a cycle belongs together: every cycle) starts from the untouched picture."""

    @property
    def label(self) -> str:
        """As it stands in tables."""
        return self.id + INDEPENDENT * self.independent

    @property
    def period(self) -> int:
        """Steps of one cycle."""
        return len(self.steps)

    def at(self, step: int) -> VariantStep:
        """The wish of this step, counted from 1."""
        return self.steps[(step - 1) % self.period]

    def apart(self) -> Variant:
        """The same with every step from the untouched picture, which tells accumulation from single-step trouble."""
        return replace(self, independent=True, baseline=self.id)

    def starts_anew(self, step: int) -> bool:
        """Whether this step starts from the untouched picture."""
        if step == 1:
            return True
        return self.independent and (self.compared != "cycle" or (step - 1) % self.period == 0)

    def over(self, settings: Settings) -> Settings:
        """A study's settings under this variant's own."""
        own = dict(self.settings)
        if "resolution" in own:  # one that is asked for takes the place of turns, and turns that of one
            turns = own["resolution"] if isinstance(own["resolution"], list | tuple) else ()
            own |= {"resolution": None if turns else own["resolution"], "interleaved": tuple(turns)}
        return replace(settings, **own)


class StepRow(Strict):
    """One wish of a variants file."""

    words: Words
    operation: Operation


class OwnSettings(Strict):
    """Settings that a variant may have of its own."""

    seed_policy: Literal["per-step", "fixed"] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    resolution: str | Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    session: Literal["fresh", "single"] | None = None


class VariantRow(Strict):
    """One `[[variant]]` table."""

    id: Identifier
    family: Identifier
    origin: Annotated[str, Field(min_length=1)]
    title: Words
    like: str = ""
    """Another variant of the same file whose steps, kinds and comparisons it takes over."""
    baseline: str = ""
    compared: Compared | None = None
    kinds: tuple[Kind, ...] = ()
    settings: OwnSettings = OwnSettings()
    steps: tuple[StepRow, ...] = ()
    things: tuple[str, ...] = ()
    """What `$thing` stands for, step by step."""

    @model_validator(mode="after")
    def _says_what_to_do(self) -> VariantRow:
        if bool(self.like) == bool(self.steps):
            raise ValueError(f"'{self.id}' needs either steps of its own or like = another variant")
        spoken = any("$thing" in step.words for step in self.steps)
        if spoken != bool(self.things):
            raise ValueError(f"'{self.id}': $thing in the words and a list of things belong together")
        for step in self.steps:
            if not Template(step.words).is_valid():
                raise ValueError(f"'{self.id}': a lone $ stands in the words; write $$ for a dollar sign")
            if set(Template(step.words).get_identifiers()) - {"thing"}:
                raise ValueError(f"'{self.id}': only $thing is filled into the words")
        return self


class VariantsFile(Strict):
    """A whole file of variants."""

    variant: Annotated[tuple[VariantRow, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_fit(self) -> VariantsFile:
        rows = {row.id: row for row in self.variant}
        if len(rows) < len(self.variant):
            raise ValueError("variant ids must be unique")
        for row in self.variant:
            if row.like and (row.like not in rows or rows[row.like].like):
                raise ValueError(f"'{row.id}' is like '{row.like}', which is no variant with steps of its own")
            if row.id.endswith(INDEPENDENT):
                raise ValueError(f"'{row.id}': names that end in {INDEPENDENT} are given to independent runs")
        return self

    def variants(self) -> tuple[Variant, ...]:
        """As the study wants them."""
        rows = {row.id: row for row in self.variant}
        return tuple(_variant(row, rows.get(row.like, row)) for row in self.variant)


def _variant(row: VariantRow, model: VariantRow) -> Variant:
    steps = [
        VariantStep(Template(step.words).substitute(thing=thing), step.operation)
        for thing in model.things or ("",)
        for step in model.steps
    ]
    return Variant(
        id=row.id,
        family=row.family,
        origin=row.origin,
        title=row.title,
        steps=tuple(steps),
        compared=row.compared or model.compared or "whole",
        kinds=row.kinds or model.kinds or KINDS,
        settings=row.settings.model_dump(mode="json", exclude_none=True),
        baseline=row.baseline or row.like or None,
    )


@cache
def shipped_variants() -> tuple[Variant, ...]:
    """Those of the package: the file's, and one for every session of `load_sessions`."""
    sessions = [
        Variant(
            id=f"session-{session.id}",
            family="session",
            origin="ours",
            title=session.title,
            steps=tuple(VariantStep(words, "change") for words in session.steps),
            compared="around",
            kinds=session.kinds,
            ends=True,
        )
        for session in load_sessions()
    ]
    return (*read_document(DATA, VariantsFile).variants(), *sessions)


def load_variants(selection: Sequence[str]) -> tuple[Variant, ...]:
    """Variants in the order asked for, each once. A word is an id, a family, `all`, or a TOML file of variants."""
    chosen: dict[str, Variant] = {}
    for word in selection:
        for variant in _found(word):
            if chosen.setdefault(variant.id, variant) != variant:
                raise StudyError(f"two different variants are called '{variant.id}' (second one from {word})")
    return tuple(chosen.values())


def _found(word: str) -> tuple[Variant, ...]:
    shipped = shipped_variants()
    if word.endswith(".toml"):
        return read_document(Path(word), VariantsFile).variants()
    found = tuple(one for one in shipped if word in ("all", one.id, one.family))
    if not found:
        known = [*dict.fromkeys(one.family for one in shipped), *(one.id for one in shipped)]
        raise StudyError(f"unknown variant or family '{word}'{suggest(word, known)} (cbench list variants)")
    return found
