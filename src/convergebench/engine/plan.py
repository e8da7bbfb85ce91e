"""What is to be done: chains, each a case walked by a study with one editor; and what that would take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from convergebench.ids import content_hash
from convergebench.types import Case, Editor, Settings, Study


@dataclass(frozen=True)
class Chain:
    """One editor walking one case."""

    editor: str
    case: Case
    study: Study
    rounds: int
    settings: Settings = field(default_factory=Settings)
    """What its calls carry beside the words, for forecasts."""

    def plan(self, fingerprint: str) -> str:
        """What this chain was asked to do, in one word; a finished chain with the same plan needs no replay."""
        case = self.case
        words = [[pair.forward, pair.backward] for pair in case.pairs]
        return content_hash([case.source.id, case.replicate, case.label, words, repr(self.study), fingerprint])


@dataclass(frozen=True)
class EditorForecast:
    """What one editor's share would take, at most."""

    editor: str
    chains: int
    calls: int
    dollars: float | None
    """None: nobody knows its price."""
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
    """Editors run side by side, but those that share a machine share its time."""
    hours: dict[str, float] = {}
    for row in rows:
        limits = editors[row.editor].limits
        # a space first, so that no editor's name can be taken for an account
        whose = row.editor if limits.together is None else f" {limits.account}"
        hours[whose] = hours.get(whose, 0.0) + row.hours
    return max(hours.values(), default=0.0)


def _dollars(editor: Editor, settings: Settings, steps: range) -> float | None:
    """What these steps of a chain cost: in a single session every one carries all those before it."""
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
