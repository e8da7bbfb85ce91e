"""What a chain of the factory is good for: an example, preference pairs, a session. And why not, where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from convergebench.datasets.factory.turns import EditAttempt, FactoryChain, FactoryTurn
from convergebench.store.tables import ImageRow


@dataclass(frozen=True)
class Example:
    """An accepted first turn."""

    turn: FactoryTurn
    accepted: EditAttempt
    before: ImageRow
    after: ImageRow


@dataclass(frozen=True)
class PreferencePair:
    """An accepted edit and an attempt of the same turn that was rejected before it."""

    turn: FactoryTurn
    chosen: EditAttempt
    rejected: EditAttempt
    before: ImageRow
    better: ImageRow
    worse: ImageRow


@dataclass(frozen=True)
class WholeSession:
    """A session of which every planned turn was accepted and found fit."""

    turns: tuple[Example, ...]


Product = Example | PreferencePair | WholeSession


def examples(chain: FactoryChain) -> Iterator[Example]:
    """The first turn, if it was accepted and nobody found it damaged."""
    for turn in chain.turns[:1]:
        found = _example(turn)
        if found is not None:
            yield found


def pairs(chain: FactoryChain) -> Iterator[PreferencePair]:
    """Every rejected picture against the accepted one of its turn."""
    for turn in chain.turns:
        good = _example(turn)
        if good is None:
            continue
        for rejected in turn.rejected:
            assert rejected.picture is not None
            yield PreferencePair(turn, good.accepted, rejected, good.before, good.after, rejected.picture)


def sessions(chain: FactoryChain) -> Iterator[WholeSession]:
    """The session, if it is whole."""
    turns = [_example(turn) for turn in chain.turns] if chain.is_whole_session else []
    if turns and all(turn is not None for turn in turns):
        yield WholeSession(tuple(turn for turn in turns if turn is not None))


def left_out(chain: FactoryChain) -> Iterator[tuple[str, str]]:
    """Subset and reason of each product that there would be but for the inspector, or for a missing judgement."""
    for turn in chain.turns:
        if turn.accepted is None:
            continue
        damaged = turn.fit is False
        if damaged and turn.number == 1:
            yield "sft", "damaged"
        for _ in turn.rejected if damaged else ():
            yield "preference", "damaged"
        for _ in turn.unjudged:
            yield "preference", "not judged"


def _example(turn: FactoryTurn) -> Example | None:
    accepted = turn.accepted
    if accepted is None or accepted.picture is None or turn.before is None or turn.fit is False:
        return None
    return Example(turn, accepted, turn.before, accepted.picture)
