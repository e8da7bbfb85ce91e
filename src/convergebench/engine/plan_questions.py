"""What asking would take: the questions that a study's comparisons lead to, and their price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from convergebench.engine.plan import Chain
from convergebench.engine.words import Words
from convergebench.metrics.judged._asked import AskedMetric
from convergebench.roles.base import Role
from convergebench.types import Ask, Compare, Edit, Reply, State


@dataclass(frozen=True)
class RoleForecast:
    """What one role would be asked, at most."""

    role: str
    questions: int
    dollars: float | None
    """None: nobody knows its price."""


def forecast_questions(
    chains: Iterable[Chain], metrics: Sequence[AskedMetric], roles: Mapping[str, Role]
) -> list[RoleForecast]:
    """Questions over all chains, those that are answered already among them: pictures that are equal are asked once."""
    asked: Counter[str] = Counter()
    if metrics:
        for chain in chains:
            for word in _comparisons(chain):
                concerned = [metric for metric in metrics if metric.concerns(word.role, word.operation)]
                # metrics that read one rubric share the question
                asked.update(who for who, _ in {(one.facts.asks, one.rubric_for(word.role)) for one in concerned})
    return [_forecast(name, roles[name], count) for name, count in sorted(asked.items()) if name in roles]


def _forecast(name: str, role: Role, comparisons: int) -> RoleForecast:
    questions, price = comparisons * role.repeats, role.dollars_per_call
    return RoleForecast(name, questions, None if price is None else questions * price)


def _comparisons(chain: Chain) -> Iterator[Compare]:
    """What a chain would compare if every edit went well."""
    words = Words(chain)
    word = words.first()
    number = 0
    while word is not None:
        answer: State | Reply | None = None
        if isinstance(word, Compare):
            yield word
        elif isinstance(word, Edit):
            number += 1
            answer = State(f"{number}", f"{number}")
        elif isinstance(word, Ask):
            return  # what follows depends on the answer
        word = words.after(answer)
    words.close()
