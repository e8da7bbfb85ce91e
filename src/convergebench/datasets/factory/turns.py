"""A chain of the factory, read back from what the study decided: its turns, and the attempts of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convergebench.datasets.parts import ExportedChain
from convergebench.edits.taxonomy import EditType, taxonomy
from convergebench.store.queries.exporting import StepFacts
from convergebench.store.tables import ImageRow
from convergebench.studies.factory_table import CRITERIA


@dataclass(frozen=True)
class EditAttempt:
    """One edit and its judgement; a refused one has no picture."""

    number: int
    accepted: bool
    refused: str | None
    score: float | None
    criteria: Mapping[str, float | None]
    spread: float | None
    reason: str | None
    answers: tuple[str, ...]
    """Ids of the judge's replies."""
    step: StepFacts | None

    @property
    def picture(self) -> ImageRow | None:
        """The edited picture."""
        return self.step.picture if self.step is not None else None


@dataclass(frozen=True)
class FactoryTurn:
    """One instruction with all its attempts."""

    number: int
    type: EditType
    long: str | None
    """None: the writer gave no usable instruction."""
    short: str | None
    writer: str | None
    rewriter: str | None
    before: ImageRow | None
    """The picture that was edited; None after a turn without an accepted picture."""
    attempts: tuple[EditAttempt, ...]
    fit: bool | None = None
    """Whether the inspector let the session go on; None: nobody looked."""

    @property
    def accepted(self) -> EditAttempt | None:
        """The attempt that was accepted, if it has a picture."""
        return next((one for one in self.attempts if one.accepted and one.picture is not None), None)

    @property
    def rejected(self) -> list[EditAttempt]:
        """Attempts before the accepted one that gave a picture and were judged; none where none was accepted."""
        return [one for one in self._before_the_accepted if one.score is not None]

    @property
    def unjudged(self) -> list[EditAttempt]:
        """The same without a judgement: nobody has said that they are worse."""
        return [one for one in self._before_the_accepted if one.score is None]

    @property
    def has_verdict(self) -> bool:
        """Whether it was accepted, or every attempt failed: one without a judgement might have been a success."""
        told = [one.score is not None or one.refused is not None for one in self.attempts]
        return self.accepted is not None or (bool(told) and all(told))

    @property
    def _before_the_accepted(self) -> list[EditAttempt]:
        if self.accepted is None:
            return []
        return [one for one in self.attempts if one.number < self.accepted.number and one.picture is not None]


@dataclass(frozen=True)
class FactoryChain:
    """All turns of a chain and how it ended."""

    turns: tuple[FactoryTurn, ...]
    end: Mapping[str, Any] = field(default_factory=dict)
    """Empty: the chain is not finished."""
    compared: Mapping[tuple[str, str], float | None] = field(default_factory=dict)
    """(chosen, rejected) as step keys → the chosen one's share when the judge compares them, mean of both orders."""

    @property
    def is_session(self) -> bool:
        """Whether more than one turn was planned."""
        return int(self.end.get("turns_planned", 1)) > 1

    @property
    def is_whole_session(self) -> bool:
        """Whether every planned turn was accepted and found fit."""
        planned = int(self.end.get("turns_planned", 1))
        return planned > 1 and all(int(self.end[name]) == planned for name in ("turns_done", "turns_fit"))


def factory_chain(chain: ExportedChain) -> FactoryChain:
    """What the decisions of a chain say."""
    steps = {step.position: step for step in chain.steps}
    written: dict[int, Mapping[str, Any]] = {}
    attempts: dict[int, list[EditAttempt]] = {}
    fit: dict[int, bool] = {}
    compared: dict[tuple[str, str], float | None] = {}
    end: Mapping[str, Any] = {}
    for decision in chain.decisions:
        facts = json.loads(decision.facts)
        match decision.kind:
            case "instruction" | "unwritten":
                written[facts["turn"]] = facts
            case "attempt":
                attempts.setdefault(facts["turn"], []).append(_attempt(facts, steps.get(decision.position)))
            case "inspection":
                fit[facts["turn"]] = bool(facts["fit"])
            case "pair":
                compared[facts["chosen"], facts["rejected"]] = _mean(facts["chosen_first"], facts["chosen_second"])
            case "end":
                end = facts
    turns: list[FactoryTurn] = []
    before: ImageRow | None = chain.facts.picture
    for number, facts in sorted(written.items()):
        turn = FactoryTurn(
            number=number,
            type=taxonomy()[facts["edit_type"]],
            long=facts.get("long"),
            short=facts.get("short"),
            writer=facts.get("writer"),
            rewriter=facts.get("rewriter"),
            before=before,
            attempts=tuple(attempts.get(number, ())),
            fit=fit.get(number),
        )
        turns.append(turn)
        before = turn.accepted.picture if turn.accepted is not None else None
    return FactoryChain(tuple(turns), end, compared)


def _attempt(facts: Mapping[str, Any], step: StepFacts | None) -> EditAttempt:
    return EditAttempt(
        number=facts["attempt"],
        accepted=facts["accepted"],
        refused=facts.get("refused"),
        score=facts.get("score"),
        criteria={name: facts.get(name) for name in CRITERIA},
        spread=facts.get("spread"),
        reason=facts.get("reason"),
        answers=tuple(facts.get("answers", ())),
        step=step,
    )


def _mean(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else (first + second) / 2
