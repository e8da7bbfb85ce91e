"""Edit, undo, repeat: how far does an image drift from the original, how fast, and does it settle?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from convergebench.documents import Strict
from convergebench.edits.pairs import misfit
from convergebench.errors import StudyError
from convergebench.studies.base import BaseStudy, Sources
from convergebench.studies.units import ROUND_TRIP, Unit
from convergebench.types import Case, Compare, Edit, EditPair, Settings, State, Steps

Order = Literal["single", "nested", "crossed"]

LAGS = 6
"""How many rounds back a limit cycle is looked for."""


class Leg(NamedTuple):
    """One edit of a round: which pair, and whether it does or undoes."""

    pair: int
    forward: bool


LEGS: dict[Order, tuple[Leg, ...]] = {
    "single": (Leg(0, True), Leg(0, False)),
    "nested": (Leg(0, True), Leg(1, True), Leg(1, False), Leg(0, False)),  # A B B⁻¹ A⁻¹
    "crossed": (Leg(0, True), Leg(1, True), Leg(0, False), Leg(1, False)),  # A B A⁻¹ B⁻¹
}


class RoundTripTable(Strict):
    """How the round trip is made."""

    rounds: Annotated[int, Field(ge=1, le=1000)] = 20
    """Round trips per chain. Flag: `--rounds`."""
    replicates: Annotated[int, Field(ge=1, le=1000)] = 1
    """Runs of each case; replicates never share a call."""
    order: Order = "single"
    """`single`: A A⁻¹. `nested`: A B B⁻¹ A⁻¹. `crossed`: A B A⁻¹ B⁻¹."""


@dataclass(frozen=True)
class RoundTrip(BaseStudy):
    """I'₀ = I₀; Iₙ = forward(I'ₙ₋₁); I'ₙ = backward(Iₙ)."""

    Parameters: ClassVar[type[RoundTripTable]] = RoundTripTable
    unit: ClassVar[Unit] = ROUND_TRIP

    rounds: int = 20
    order: Order = "single"
    settings: Settings = field(default_factory=Settings)
    replicates: int = field(default=1, repr=False)
    name: str = "roundtrip"

    @classmethod
    def of(cls, parameters: RoundTripTable, settings: Settings) -> RoundTrip:
        """The study of a study file."""
        return cls(parameters.rounds, parameters.order, settings, parameters.replicates)

    def steps(self, case: Case) -> Steps:
        """Compares each step with its parent, and each round with the source and earlier rounds."""
        yield Compare(case.source, None, "source", 0, 0)
        returned = [case.source]
        state, position = case.source, 0
        for number in range(1, self.rounds + 1):
            before: dict[int, State] = {}
            after: dict[int, State] = {}
            for leg in LEGS[self.order]:
                pair, parent = case.pairs[leg.pair], state
                position += 1
                if leg.forward:
                    state = yield Edit(parent, pair.forward, self.settings)
                    before[leg.pair], after[leg.pair] = parent, state
                    operation = pair.forward_operation
                    yield Compare(state, parent, "forward", number, position, operation=operation)
                else:
                    assert pair.backward, "such pairs are refused when cases are made"
                    state = yield Edit(parent, pair.backward, self.settings)
                    operation = pair.backward_operation or "change"
                    yield Compare(
                        state, before[leg.pair], "backward", number, position, via=after[leg.pair], operation=operation
                    )
                yield Compare(state, parent, "step", number, position, operation=operation)
            yield Compare(state, case.source, "return", number, position)
            for lag in range(1, min(LAGS, number) + 1):
                yield Compare(state, returned[-lag], "lag", number, position, lag=lag)
            returned = [*returned[-LAGS + 1 :], state]

    def calls(self, case: Case) -> int:
        """Edits in a whole chain."""
        return self.rounds * len(LEGS[self.order])

    def rounds_of(self, case: Case) -> int:
        """The same for every case."""
        return self.rounds

    def edits(self, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
        """The pairs in use, with their instructions."""
        used = {pair.label: pair for case in cases for pair in case.pairs}
        return {label: _as_asked(pair) for label, pair in used.items()}

    def fixed(self) -> Mapping[str, Any]:
        """The order of doing and undoing; rounds and replicates may grow."""
        return {"order": self.order}

    def cases(self, sources: Sources, pairs: Sequence[EditPair]) -> list[Case]:
        """Every source with every edit that suits its kind and what it holds, every replicate."""
        found = []
        for image, state in sources:
            of_kind = [_undoable(pair) for pair in pairs if image.kind in pair.kinds]
            if self.order != "single" and len(of_kind) < 2:
                raise StudyError(f"order '{self.order}' needs two edit pairs per image kind; add pairs under [edits]")
            for combination in self._combinations([pair for pair in of_kind if not misfit(image.holds, pair)]):
                label = "+".join(pair.label for pair in combination)
                for replicate in range(self.replicates):
                    identity = f"{image.id}/{label}/{replicate}"
                    found.append(Case(identity, state, image.id, image.kind, combination, replicate))
        return found

    def _combinations(self, pairs: Sequence[EditPair]) -> list[tuple[EditPair, ...]]:
        if self.order == "single":
            return [(pair,) for pair in pairs]
        if len(pairs) < 2:  # what the picture holds has left one: nothing to nest it with
            return []
        # each pair with the next one, so that every pair is once the outer and once the inner one
        return [(pair, pairs[(index + 1) % len(pairs)]) for index, pair in enumerate(pairs)]


def _as_asked(pair: EditPair) -> dict[str, Any]:
    """A pair for the manifest, without the nouns that only decide which pictures it is for."""
    facts = {name: value for name, value in asdict(pair).items() if name not in ("adds", "needs")}
    return {**facts, "kinds": list(pair.kinds)}


def _undoable(pair: EditPair) -> EditPair:
    if not pair.backward:
        raise StudyError(f"edit pair '{pair.label}' has no backward instruction, but a round trip undoes every edit")
    return pair
