"""Copy, flip, rotate, rebuild or add, up to a hundred times: how does an image degrade, and in which ways?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from convergebench.documents import LARGEST, Strict
from convergebench.edits.orientation import UPRIGHT, Orientation
from convergebench.edits.variants import Variant, load_variants, shipped_variants
from convergebench.errors import StudyError
from convergebench.registry import suggest
from convergebench.studies.base import BaseStudy, Sources
from convergebench.studies.roundtrip import LAGS
from convergebench.studies.units import STEP, Unit
from convergebench.types import Case, Compare, Edit, EditPair, Kind, Operation, Settings, SourceImage, State, Steps

UNCHECKED: tuple[Operation, ...] = ("replicate", "denoise", "patches", "edges", "rebuild")
"""Operations that no metric checks: the picture should look as before, or the result is not defined."""


class GridRow(Strict):
    """Some variants on some images."""

    variants: Annotated[tuple[str, ...], Field(min_length=1)]
    """Ids or families of variants, `all`, or a TOML file of variants."""
    images: tuple[str, ...] = ()
    """Ids of images of the suite; empty = all whose kind fits the variant."""
    steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Overrides the study's value."""
    runs: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Overrides the study's value."""
    independent: bool = False
    """Adds to each chain one whose every step starts from the untouched image."""


class ReplicateTable(Strict):
    """Which variants are run, how many steps and how often."""

    steps: Annotated[int, Field(ge=1, le=1000)] = 100
    """Steps per chain. Flag: `--steps`."""
    runs: Annotated[int, Field(ge=1, le=1000)] = 5
    """Runs of each setting; runs never share a call."""
    unfit: Literal["refuse", "leave-out"] = "refuse"
    """What to do if an editor does not support a variant's settings, e.g. a temperature: `refuse` the study, or
    `leave-out` the chain and report it."""
    grid: Annotated[tuple[GridRow, ...], Field(min_length=1)] = (GridRow(variants=("replicate",)),)
    """`[[replicate.grid]]` tables. Unset: plain replication of every image."""


@dataclass(frozen=True)
class Replicate(BaseStudy):
    """Each step is made from the one before it (or, in independent runs, from the source); every step is a round."""

    Parameters: ClassVar[type[ReplicateTable]] = ReplicateTable
    unit: ClassVar[Unit] = STEP
    metrics: ClassVar[str] = "replicate"
    analyses: ClassVar[tuple[str, ...]] = ("comparison", "decay")

    table: ReplicateTable = field(default_factory=ReplicateTable)
    settings: Settings = field(default_factory=Settings)
    name: str = "replicate"

    @classmethod
    def of(cls, parameters: ReplicateTable, settings: Settings) -> Self:
        """The study of a study file."""
        return cls(parameters, settings)

    @property
    def leaves_out(self) -> bool:
        """Whether an editor skips the chains whose settings it does not support."""
        return self.table.unfit == "leave-out"

    def cases(self, sources: Sources, pairs: Sequence[EditPair]) -> list[Case]:
        """Every row of the grid with its images, every run; edit pairs are not used."""
        known = [image.id for image, _ in sources]
        found: dict[str, Case] = {}
        for row in self.table.grid:
            for name in row.images:
                if name not in known:
                    raise StudyError(
                        f"[[{self.name}.grid]] asks for an image that does not exist: '{name}'{suggest(name, known)} "
                        f"(the suite, its kinds and --limit leave {len(known)})"
                    )
            for variant in _variants(row):
                self._require_useful(variant, row)
            for image, state, variant in _fitting(row, sources):
                for run in range(row.runs or self.table.runs):
                    case = _case(image, state, variant, run)
                    if case.id in found:
                        raise StudyError(
                            f"[[{self.name}.grid]] asks twice for '{variant.label}' on {image.id}; leave one row's out"
                        )
                    found[case.id] = case
        return list(found.values())

    def steps(self, case: Case) -> Steps:
        """Compares every step with its parent, the source and step 1, where these are comparable."""
        variant, settings = self._variant(case), self.settings_of(case)
        yield Compare(case.source, None, "source", 0, 0)
        states: list[State] = [case.source]
        orientations: list[Orientation] = [UPRIGHT]
        for number in range(1, self.calls(case) + 1):
            asked = variant.at(number)
            begin = 0 if variant.starts_from_source(number) else number - 1
            # independent steps are numbered, or each would be the first one again
            draw = number if variant.independent else 0
            state = yield Edit(states[begin], asked.words, settings, draw)
            turned_now = orientations[begin].then(asked.operation)
            yield Compare(state, states[begin], "step", number, number, operation=asked.operation)
            if asked.operation not in UNCHECKED:
                yield Compare(state, states[begin], "forward", number, number, operation=asked.operation)
            states.append(state)
            orientations.append(turned_now)
            yield from _comparisons(variant, number, states, orientations)

    def settings_of(self, case: Case) -> Settings:
        """The variant's settings over the study's; a fixed seed differs from run to run."""
        settings = self._variant(case).apply_to(self.settings)
        if settings.seed_policy == "fixed":
            settings = replace(settings, seed=((settings.seed or 0) + case.replicate) % LARGEST)
        return settings

    def calls(self, case: Case) -> int:
        """As many as its row says; a person's session ends with its last instruction."""
        variant, row = self._planned(case)
        steps = row.steps or self.table.steps
        return min(steps, variant.period) if variant.ends else steps

    def rounds_of(self, case: Case) -> int:
        """The last step that is compared with the source."""
        variant, calls = self._variant(case), self.calls(case)
        return calls // variant.period * variant.period if variant.compared == "cycle" else calls

    def edits(self, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
        """The instructions of every variant in use, and how it is compared."""
        found: dict[str, dict[str, Any]] = {}
        for case in cases:
            if case.label in found:
                continue
            variant = self._variant(case)
            found[case.label] = {
                "family": variant.family,
                "origin": variant.origin,
                "title": variant.title,
                "instructions": [step.words for step in variant.steps],
                "operations": [step.operation for step in variant.steps],
                "compared": variant.compared,
                "independent": variant.independent,
                "settings": dict(variant.settings),
                "baseline": variant.baseline,
            }
        return found

    def _require_useful(self, variant: Variant, row: GridRow) -> None:
        """Refuse chains that compare nothing or repeat another variant: they would waste money."""
        steps = row.steps or self.table.steps
        if variant.compared == "cycle" and steps < variant.period:
            raise StudyError(
                f"'{variant.id}' returns to the source after {variant.period} steps, but steps = {steps}; raise steps"
            )
        model = next((one for one in shipped_variants() if one.id == variant.baseline), None)
        if model is None or variant.independent or not variant.settings or variant.steps != model.steps:
            return
        if variant.apply_to(self.settings) == model.apply_to(self.settings):
            raise StudyError(
                f"'{variant.id}' is the same as '{model.id}' under the study's [settings]; leave out one of the two"
            )

    def _variant(self, case: Case) -> Variant:
        return self._planned(case)[0]

    def _planned(self, case: Case) -> tuple[Variant, GridRow]:
        """The variant of a case and the row that asks for it."""
        for row in self.table.grid:
            for variant in _variants(row):
                if variant.label == case.label and _takes(row, variant, case.source_id, case.kind):
                    return variant, row
        raise StudyError(f"the study has no row for {case.id}")


@cache
def _variants(row: GridRow) -> tuple[Variant, ...]:
    chosen = load_variants(row.variants)
    return tuple(each for one in chosen for each in ((one, one.as_independent()) if row.independent else (one,)))


def _takes(row: GridRow, variant: Variant, image: str, kind: Kind) -> bool:
    """Whether a row includes an image; images that it names are taken regardless of kind."""
    return image in row.images if row.images else kind in variant.kinds


def _fitting(row: GridRow, sources: Sources) -> Iterator[tuple[SourceImage, State, Variant]]:
    """Every variant of a row with every image it takes."""
    for variant in _variants(row):
        for image, state in sources:
            if _takes(row, variant, image.id, image.kind):
                yield image, state, variant


def _case(image: SourceImage, state: State, variant: Variant, run: int) -> Case:
    return Case(
        f"{image.id}/{variant.label}/{run}",
        *(state, image.id, image.kind),
        replicate=run,
        label=variant.label,
        category=variant.family,
    )


def _comparisons(
    variant: Variant, number: int, states: Sequence[State], orientations: Sequence[Orientation]
) -> Iterator[Compare]:
    """The comparisons of the newest state with the source and earlier steps."""
    state, source = states[-1], states[0]
    if variant.compared == "around":
        yield Compare(state, source, "around", number, number)
        return
    if variant.compared == "cycle" and number % variant.period:
        return

    def beside(earlier: int, role: Literal["return", "first", "lag"], lag: int = 0) -> Iterator[Compare]:
        turned = orientations[number].relative_to(orientations[earlier])
        if turned.is_one_operation:  # a flip about a diagonal is no known operation
            yield Compare(state, states[earlier], role, number, number, lag=lag, operation=turned.operation)

    yield from beside(0, "return")
    first = variant.period if variant.compared == "cycle" else 1
    yield from beside(first, "first")
    cycle = first
    for lag in range(1, min(LAGS, number // cycle) + 1):
        yield from beside(number - lag * cycle, "lag", lag)
