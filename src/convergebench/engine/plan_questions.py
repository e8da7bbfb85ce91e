"""A forecast of the questions of a study and of its metrics, role by role, and their price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from convergebench.engine.driver import StudyDriver
from convergebench.engine.plan import Chain
from convergebench.metrics.judged._asked import AskedMetric
from convergebench.roles.base import Role
from convergebench.types import Ask, Compare, Edit, State, Word


@dataclass(frozen=True)
class RoleForecast:
    """Questions to one role and their price, at most."""

    role: str
    questions: int | None
    """None: it depends on answers, and the study does not declare a number."""
    dollars: float | None
    """None: the number or the price is unknown."""


def forecast_questions(
    chains: Iterable[Chain], metrics: Sequence[AskedMetric], roles: Mapping[str, Role]
) -> list[RoleForecast]:
    """Questions over all chains, including answered ones; equal pictures may need fewer."""
    asked: Counter[str] = Counter()
    uncounted: set[str] = set()
    for chain in chains:
        expected = questions_of(chain)
        asked.update(expected)
        uncounted.update(set(chain.roles) - expected.keys())
        if not metrics:
            continue
        words = requests_of(chain)
        for word in words:
            if isinstance(word, Compare):
                concerned = [metric for metric in metrics if metric.concerns(word.role, word.operation)]
                # metrics that read one rubric share the question
                shared = {(one.facts.asks, one.rubric_for(word.role)) for one in concerned}
                for name, _ in shared:
                    asked[name] += roles[name].repeats if name in roles else 1
        if words and isinstance(words[-1], Ask):
            uncounted.update(metric.facts.asks for metric in metrics)
    return [
        _forecast(name, roles[name], None if name in uncounted else asked[name])
        for name in sorted(asked.keys() | uncounted)
        if name in roles
    ]


def questions_of(chain: Chain) -> Mapping[str, int]:
    """Role → the largest number of questions of the study itself in this chain, as declared."""
    if not hasattr(chain.study, "questions"):
        return {}
    found: Mapping[str, int] = chain.study.questions(chain.case)
    return found


def requests_of(chain: Chain) -> list[Word]:
    """The requests of a chain if every edit succeeds, up to its first `Ask`: the rest depends on the answer."""
    study = StudyDriver(chain)
    words: list[Word] = []
    word = study.start()
    while word is not None:
        words.append(word)
        if isinstance(word, Ask):
            break
        number = str(len(words))
        word = study.send(State(number, number) if isinstance(word, Edit) else None)
    study.close()
    return words


def require_declared(chain: Chain) -> None:
    """`StudyError` if the first `Ask` of the study goes to an undeclared role."""
    for word in requests_of(chain):
        if isinstance(word, Ask):
            chain.require_declared(word.role)


def _forecast(name: str, role: Role, questions: int | None) -> RoleForecast:
    price = role.dollars_per_call
    dollars = 0.0 if price == 0 else None if price is None or questions is None else questions * price
    return RoleForecast(name, questions, dollars)
