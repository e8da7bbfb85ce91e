"""The table [factory] of a study file: how edits are tried, judged and accepted, and which become sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, FiniteFloat, field_validator, model_validator

from convergebench.documents import Strict

CRITERIA = ("instruction_compliance", "seamlessness", "preservation_balance", "technical_quality")
"""What an edit is judged by."""


class Weights(Strict):
    """How much each criterion counts; they are scaled to a sum of 1."""

    instruction_compliance: Annotated[FiniteFloat, Field(ge=0)] = 0.40
    seamlessness: Annotated[FiniteFloat, Field(ge=0)] = 0.25
    preservation_balance: Annotated[FiniteFloat, Field(ge=0)] = 0.20
    technical_quality: Annotated[FiniteFloat, Field(ge=0)] = 0.15

    @model_validator(mode="after")
    def _something_counts(self) -> Weights:
        if sum(self.model_dump().values()) <= 0:
            raise ValueError("all weights are 0, so every edit would score 0; raise one of them")
        return self

    def score(self, scores: Mapping[str, float]) -> float:
        """The weighted mean of the four criteria."""
        weights = self.model_dump()
        return float(sum(weights[name] * scores[name] for name in CRITERIA) / sum(weights.values()))


class FactoryTable(Strict):
    """The table [factory] of a study file."""

    types: tuple[str, ...] = ()
    """Edit types by id, category or name (`cbench list edit-types`); empty = all 35."""
    per_image: Annotated[int, Field(ge=1, le=35)] = 1
    """Edit types per image; the types with the fewest cases so far come first."""
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """Attempts per instruction; the first accepted one ends them."""
    threshold: Annotated[FiniteFloat, Field(ge=0, lt=1)] = 0.7
    """An edit whose score is above it is accepted."""
    weights: Weights = Weights()
    least_compliance: Annotated[FiniteFloat, Field(ge=0, le=1)] = 0.0
    """An edit with lower instruction compliance is rejected whatever its score. The paper has no such rule (0); with
    its weights an edit that changes almost nothing scores 0.6 for leaving the rest alone."""
    short: bool = True
    """Whether a rewriter also writes a short instruction."""
    judged: Annotated[int, Field(ge=1, le=20)] = 1
    """Judgements per edit; the score is their mean, and their spread is recorded."""
    reasked: Annotated[int, Field(ge=0, le=5)] = 2
    """How often a question is repeated if its reply cannot be parsed."""
    pairwise: bool = False
    """Whether the judge also compares each rejected edit with the accepted one, in both orders."""
    sessions: Annotated[FiniteFloat, Field(ge=0, le=1)] = 0.25
    """Share of cases that continue as sessions of several turns once their edit is accepted."""
    turns: tuple[Annotated[int, Field(ge=2, le=10)], Annotated[int, Field(ge=2, le=10)]] = (2, 5)
    """Fewest and most turns of a session."""
    least_quality: Annotated[FiniteFloat, Field(ge=0, le=1)] = 0.5
    """A session stops after a turn whose image has less than this quality, as rated by the inspector; 0 = never."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Random seed: which cases become sessions, how long, with which types."""

    def accepts(self, scores: Mapping[str, float], score: float) -> bool:
        """Whether an edit with these criteria and this score is accepted."""
        return score > self.threshold and scores["instruction_compliance"] >= self.least_compliance

    @field_validator("turns")
    @classmethod
    def _in_order(cls, value: tuple[int, int]) -> tuple[int, int]:
        if value[0] > value[1]:
            raise ValueError(f"give the smallest number of turns first: [{value[1]}, {value[0]}]")
        return value
