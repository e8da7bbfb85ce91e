"""The plan of a run: chains, each one case of a study with one editor; and a forecast of calls, cost and time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convergebench.errors import StudyError
from convergebench.ids import content_hash
from convergebench.types import Case, Editor, Settings, Study


@dataclass(frozen=True)
class Chain:
    """One case of a study, edited by one editor."""

    editor: str
    case: Case
    study: Study
    rounds: int
    settings: Settings = field(default_factory=Settings)
    """Settings of its calls, for forecasts."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that its study asks."""
        return tuple(getattr(self.study, "roles", ()))

    def require_declared(self, role: str) -> None:
        """`StudyError` for an undeclared role: it is in no plan or manifest, so it could be swapped unnoticed."""
        if role not in self.roles:
            raise StudyError(
                f"the study '{self.study.name}' asks a '{role}', which its class does not declare; "
                f'write roles = ("{role}",) there'
            )

    def plan(self, fingerprint: str, roles: Mapping[str, str] | None = None) -> str:
        """A hash of the chain's task; a finished chain with the same plan needs no replay.

        `fingerprint` is the editor's, `roles` has those of the roles that its study asks.
        """
        case = self.case
        words = [[pair.forward, pair.backward] for pair in case.pairs]
        plan: list[Any] = [case.source.id, case.replicate, case.label, words, repr(self.study), fingerprint]
        # added later: left out if empty, so that plans of older runs do not change
        later = {"roles": dict(roles or {}), "clean": case.clean and case.clean.id}
        plan += [{name: value} for name, value in later.items() if value]
        return content_hash(plan)


@dataclass(frozen=True)
class EditorForecast:
    """Calls, dollars and hours of one editor, at most."""

    editor: str
    chains: int
    calls: int
    dollars: float | None
    """None: its price is unknown."""
    hours: float


def forecast(
    chains: Iterable[Chain], editors: Mapping[str, Editor], done: Mapping[tuple[str, str], int]
) -> list[EditorForecast]:
    """Calls still to make per editor, with their price and their time at the editor's limits.

    `done`: (editor, case) → steps that the run holds already.
    """
    calls: dict[str, int] = {}
    count: dict[str, int] = {}
    price: dict[str, float | None] = {}
    for chain in chains:
        name, made = chain.editor, done.get((chain.editor, chain.case.id), 0)
        left = range(made + 1, chain.study.calls(chain.case) + 1)
        count[name] = count.get(name, 0) + 1
        calls[name] = calls.get(name, 0) + len(left)
        price[name] = _sum(price.get(name, 0.0), _dollars(editors[name], chain.settings, left))
    return [_forecast(editors[name], name, count[name], calls[name], price[name]) for name in count]


def hours_in_all(rows: Iterable[EditorForecast], editors: Mapping[str, Editor]) -> float:
    """Hours of the whole run: editors run in parallel, but those that share a machine share its time."""
    hours: dict[str, float] = {}
    for row in rows:
        limits = editors[row.editor].limits
        # with a leading space, so that no account equals an editor's name
        whose = row.editor if limits.together is None else f" {limits.account}"
        hours[whose] = hours.get(whose, 0.0) + row.hours
    return max(hours.values(), default=0.0)


def _dollars(editor: Editor, settings: Settings, steps: range) -> float | None:
    """The cost of these steps of a chain; in a single session each step sends all earlier ones."""
    total: float | None = 0.0
    for step in steps:
        total = _sum(total, editor.capabilities.dollars(settings.at(step), step - 1))
    return total


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _forecast(editor: Editor, name: str, chains: int, calls: int, dollars: float | None) -> EditorForecast:
    seconds = calls * editor.capabilities.seconds_per_call / min(editor.limits.at_once, max(1, chains))
    if editor.limits.per_minute is not None:
        seconds = max(seconds, calls * 60.0 / editor.limits.per_minute)
    return EditorForecast(name, chains, calls, dollars, seconds / 3600)


def interleave(chains: Sequence[Chain]) -> list[Chain]:
    """Editors in turn, so that no editor waits for another's chains to begin."""
    queues: dict[str, list[Chain]] = {}
    for chain in chains:
        queues.setdefault(chain.editor, []).append(chain)
    longest = max(map(len, queues.values()), default=0)
    return [queue[index] for index in range(longest) for queue in queues.values() if index < len(queue)]
