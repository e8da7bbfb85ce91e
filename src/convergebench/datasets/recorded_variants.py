"""The variant of a recorded chain: a shipped one with the same instructions, else one made from its instructions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from convergebench.datasets.chains import RecordedChain
from convergebench.datasets.instructions import operation_of
from convergebench.edits.orientation import NAMED
from convergebench.edits.variants import INDEPENDENT, Compared, Variant, VariantStep, shipped_variants
from convergebench.errors import StudyError
from convergebench.types import Operation

_SAME: frozenset[Operation | None] = frozenset({"replicate", "denoise", *NAMED})
"""Operations after which the whole picture should still equal the source."""
_REBUILT: frozenset[Operation] = frozenset({"monochrome", "colourise", "patches", "edges", "rebuild"})
_FAMILIES: dict[Compared, str] = {"whole": "replication", "around": "session", "cycle": "reconstruction"}


def variant_of(chain: RecordedChain, otherwise: Variant | None = None) -> Variant:
    """The chain's variant; `otherwise` is used if the set has no instructions."""
    name = chain.variant.removesuffix(INDEPENDENT)
    ours = _shipped().get(name)
    asked = [*(step.instruction for step in chain.steps), *chain.unanswered]
    words = [one for one in asked if one]
    if not words:
        known = otherwise or ours
        if known is None:
            raise StudyError(
                f"chain '{chain.id}' has no instructions; add a prompt to the table of the data set, or name the "
                f"variant that was used: --variant replicate (cbench list variants)"
            )
        return known.as_independent() if chain.independent else known
    if len(words) < len(asked):
        raise StudyError(f"chain '{chain.id}' has instructions for {len(words)} of {len(asked)} steps; add the others")
    if ours is not None and all(ours.at(number).words == one for number, one in enumerate(words, start=1)):
        return ours.as_independent() if chain.independent else ours
    operations = [step.operation for step in chain.steps]
    operations += [None] * len(chain.unanswered)
    steps = [
        VariantStep(one, operation or _operations().get(one) or operation_of(one))
        for one, operation in zip(words, operations, strict=True)
    ]
    pattern = _pattern(steps)
    compared = chain.compared or _compared(pattern)
    variant = Variant(
        id=name,
        family=chain.family or _FAMILIES[compared],
        origin=chain.origin,
        title=f"{name}, as recorded",
        steps=pattern,
        compared=compared,
    )
    return variant.as_independent() if chain.independent else variant


@cache
def _shipped() -> dict[str, Variant]:
    return {variant.id: variant for variant in shipped_variants()}


@cache
def _operations() -> dict[str, Operation]:
    """Instruction → operation, of all shipped variants."""
    return {step.words: step.operation for variant in shipped_variants() for step in variant.steps}


def _pattern(steps: Sequence[VariantStep]) -> tuple[VariantStep, ...]:
    """The shortest sequence that, repeated, gives all steps."""
    for period in range(1, len(steps)):
        if all(step == steps[place % period] for place, step in enumerate(steps)):
            return tuple(steps[:period])
    return tuple(steps)


def _compared(pattern: Sequence[VariantStep]) -> Compared:
    operations = {step.operation for step in pattern}
    if operations <= _SAME:
        return "whole"
    return "cycle" if operations <= _REBUILT and len(pattern) > 1 else "around"
