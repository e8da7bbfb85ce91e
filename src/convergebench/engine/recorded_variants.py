"""What a recorded chain asked for, as a variant: one of ours if the words are the same, else one made of its words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from convergebench.datasets.chains import RecordedChain
from convergebench.edits.orientation import NAMED
from convergebench.edits.variants import INDEPENDENT, Compared, Variant, VariantStep, shipped_variants
from convergebench.engine.wishes import operation_of
from convergebench.errors import StudyError
from convergebench.types import Operation

_SAME: frozenset[Operation | None] = frozenset({"replicate", "denoise", *NAMED})
"""Wishes after which the whole picture should still be the source."""
_REBUILT: frozenset[Operation] = frozenset({"monochrome", "colourise", "patches", "edges", "rebuild"})
_FAMILIES: dict[Compared, str] = {"whole": "replication", "around": "session", "cycle": "reconstruction"}


def variant_of(chain: RecordedChain, otherwise: Variant | None = None) -> Variant:
    """The chain's variant; `otherwise` is whose words were asked where the set does not say."""
    name = chain.variant.removesuffix(INDEPENDENT)
    ours = _shipped().get(name)
    asked = [*(step.instruction for step in chain.steps), *chain.unanswered]
    words = [one for one in asked if one]
    if not words:
        known = otherwise or ours
        if known is None:
            raise StudyError(
                f"chain '{chain.id}' does not say what was asked; add a prompt to the set's table, or name the variant "
                "whose words they were: --variant replicate (cbench list variants)"
            )
        return known.apart() if chain.independent else known
    if len(words) < len(asked):
        raise StudyError(
            f"chain '{chain.id}' says what was asked in {len(words)} of {len(asked)} steps; add the others"
        )
    if ours is not None and all(ours.at(number).words == one for number, one in enumerate(words, start=1)):
        return ours.apart() if chain.independent else ours
    told = [step.operation for step in chain.steps]
    told += [None] * len(chain.unanswered)
    steps = [
        VariantStep(one, operation or _operations().get(one) or operation_of(one))
        for one, operation in zip(words, told, strict=True)
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
    return variant.apart() if chain.independent else variant


@cache
def _shipped() -> dict[str, Variant]:
    return {variant.id: variant for variant in shipped_variants()}


@cache
def _operations() -> dict[str, Operation]:
    """Words of our own variants whose meaning is written down."""
    return {step.words: step.operation for variant in shipped_variants() for step in variant.steps}


def _pattern(steps: Sequence[VariantStep]) -> tuple[VariantStep, ...]:
    """The shortest part that, gone through again and again, gives them all."""
    for period in range(1, len(steps)):
        if all(step == steps[place % period] for place, step in enumerate(steps)):
            return tuple(steps[:period])
    return tuple(steps)


def _compared(pattern: Sequence[VariantStep]) -> Compared:
    operations = {step.operation for step in pattern}
    if operations <= _SAME:
        return "whole"
    return "cycle" if operations <= _REBUILT and len(pattern) > 1 else "around"
