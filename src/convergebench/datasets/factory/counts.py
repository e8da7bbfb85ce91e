"""What a factory run gave, counted chain by chain while it is exported."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from convergebench.datasets.factory.turns import FactoryChain, FactoryTurn
from convergebench.datasets.parts import ExportedChain

BINS = 10
"""Of the histogram of scores."""


@dataclass
class TypeCount:
    """First turns of one edit type."""

    attempts: int = 0
    accepted_attempts: int = 0
    instructions: int = 0
    accepted: int = 0


@dataclass
class FactoryCounts:
    """For the card and the notices."""

    rows: Counter[str] = field(default_factory=Counter)
    """By subset."""
    by_type: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(subset, edit type) → rows; a session counts for each of its turns."""
    dropped: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(subset, why) → rows."""
    held: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(subset, licence) → rows that are exported by reference."""
    later_pairs: int = 0
    """Preference rows of second and further turns."""
    sources_held: set[str] = field(default_factory=set)
    """Sources whose own bytes stay out though edits of them are in."""
    types: dict[str, TypeCount] = field(default_factory=dict)
    later: TypeCount = field(default_factory=TypeCount)
    """Second and further turns, all types together."""
    refused: int = 0
    unjudged: int = 0
    unwritten: int = 0
    scores: Counter[int] = field(default_factory=Counter)
    """Tenth of the scale → attempts."""
    sessions: Counter[str] = field(default_factory=Counter)
    """Planned ones, by how they ended: `whole` or `shortened`."""
    unfinished: int = 0
    """Chains."""
    editing: float = 0.0
    """Dollars."""
    asking: dict[str, float] = field(default_factory=dict)
    """Role → dollars."""
    failed: float = 0.0
    """Dollars for replies of roles that could not be used and are in no chain."""
    judge_models: set[str] = field(default_factory=set)
    _paid: set[str] = field(default_factory=set)

    def chain(self, chain: ExportedChain, read: FactoryChain) -> None:
        """One more chain, whether or not its pictures may be in the set."""
        for turn in read.turns:
            self._turn(turn, ended=bool(read.end))
        self.unfinished += not read.end
        if read.is_session:
            self.sessions["whole" if read.is_whole_session else "shortened"] += 1
        for step in chain.steps:
            if step.key not in self._paid:  # chains that begin alike share steps
                self._paid.add(step.key)
                self.editing += step.dollars or 0.0
        for answer in chain.answers:
            self.asking[answer.role] = self.asking.get(answer.role, 0.0) + answer.dollars
            if answer.role == "judge":
                self.judge_models.add(answer.model)

    def _turn(self, turn: FactoryTurn, *, ended: bool) -> None:
        if turn.long is None:
            self.unwritten += 1
            return
        count = self.types.setdefault(turn.type.id, TypeCount()) if turn.number == 1 else self.later
        if turn.has_verdict and (ended or turn.accepted is not None):
            count.instructions += 1
        count.accepted += turn.accepted is not None
        count.attempts += sum(one.score is not None or one.refused is not None for one in turn.attempts)
        count.accepted_attempts += sum(one.accepted for one in turn.attempts)
        for one in turn.attempts:
            self.refused += one.refused is not None
            if one.score is not None:
                self.scores[min(BINS - 1, int(one.score * BINS))] += 1
            elif one.refused is None:
                self.unjudged += 1
