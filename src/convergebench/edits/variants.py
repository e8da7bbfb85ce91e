"""Variants: the instructions of long chains, as data. A variant is one way to edit a picture repeatedly."""

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
"""What is compared with the source: every whole step, all but the changes, or only the end of a cycle."""

INDEPENDENT = "-independent"
"""Suffix of the label of a variant whose steps all start from the source."""


@dataclass(frozen=True, slots=True)
class VariantStep:
    """One instruction, and the operation it requests."""

    words: str
    operation: Operation


@dataclass(frozen=True, slots=True)
class Variant:
    """The instructions of a chain, repeated in a cycle."""

    id: str
    family: str
    origin: str
    """Author of the instructions: `Banana100` where that paper prints them, `ours`, or as a user's file says."""
    title: str
    steps: tuple[VariantStep, ...]
    compared: Compared = "whole"
    kinds: tuple[Kind, ...] = KINDS
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Its own settings, which override the study's."""
    baseline: str | None = None
    """The variant that it is compared with."""
    ends: bool = False
    """Whether it ends with its last instruction, as a user's session does, instead of repeating."""
    independent: bool = False
    """Whether every step (for `cycle`: every cycle) starts from the source."""

    @property
    def label(self) -> str:
        """Its name in tables."""
        return self.id + INDEPENDENT * self.independent

    @property
    def period(self) -> int:
        """Steps of one cycle."""
        return len(self.steps)

    def at(self, step: int) -> VariantStep:
        """The instruction of this step, counted from 1."""
        return self.steps[(step - 1) % self.period]

    def as_independent(self) -> Variant:
        """The same with every step from the source, which separates accumulated from single-step damage."""
        return replace(self, independent=True, baseline=self.id)

    def starts_from_source(self, step: int) -> bool:
        """Whether this step starts from the source."""
        if step == 1:
            return True
        return self.independent and (self.compared != "cycle" or (step - 1) % self.period == 0)

    def apply_to(self, settings: Settings) -> Settings:
        """The study's settings, overridden by this variant's own."""
        own = dict(self.settings)
        if "resolution" in own:  # a list means interleaved resolutions, which replace a single one, and vice versa
            turns = own["resolution"] if isinstance(own["resolution"], list | tuple) else ()
            own |= {"resolution": None if turns else own["resolution"], "interleaved": tuple(turns)}
        return replace(settings, **own)


class StepTable(Strict):
    """One step of a variants file."""

    words: Words
    operation: Operation


class OwnSettings(Strict):
    """Settings that a variant may override."""

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
    steps: tuple[StepTable, ...] = ()
    things: tuple[str, ...] = ()
    """What `$thing` stands for, step by step."""

    @model_validator(mode="after")
    def _has_steps(self) -> VariantRow:
        if bool(self.like) == bool(self.steps):
            raise ValueError(f"'{self.id}' needs either steps of its own or like = another variant")
        uses_thing = any("$thing" in step.words for step in self.steps)
        if uses_thing != bool(self.things):
            raise ValueError(f"'{self.id}': $thing in the instruction needs a list of things, and the other way round")
        for step in self.steps:
            if not Template(step.words).is_valid():
                raise ValueError(f"'{self.id}': there is a single $ in the instruction; write $$ for a dollar sign")
            if set(Template(step.words).get_identifiers()) - {"thing"}:
                raise ValueError(f"'{self.id}': only $thing can be used in the instruction")
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
                raise ValueError(f"'{row.id}' is like '{row.like}', which is not a variant with steps of its own")
            if row.id.endswith(INDEPENDENT):
                raise ValueError(f"'{row.id}': names that end in {INDEPENDENT} are reserved for independent runs")
        return self

    def variants(self) -> tuple[Variant, ...]:
        """The file's variants, with `like` resolved."""
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
    """The package's variants: the file's, and one per session of `load_sessions`."""
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
    """Variants in the order of the selection, each once; an entry is an id, a family, `all`, or a TOML file."""
    chosen: dict[str, Variant] = {}
    for name in selection:
        for variant in _variants_named(name):
            if chosen.setdefault(variant.id, variant) != variant:
                raise StudyError(f"two different variants are called '{variant.id}' (second one from {name})")
    return tuple(chosen.values())


def _variants_named(name: str) -> tuple[Variant, ...]:
    shipped = shipped_variants()
    if name.endswith(".toml"):
        return read_document(Path(name), VariantsFile).variants()
    found = tuple(one for one in shipped if name in ("all", one.id, one.family))
    if not found:
        known = [*dict.fromkeys(one.family for one in shipped), *(one.id for one in shipped)]
        raise StudyError(f"unknown variant or family '{name}'{suggest(name, known)} (cbench list variants)")
    return found
