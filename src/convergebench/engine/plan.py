"""What is to be done: chains, each a case walked by a study with one editor; and what that would take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from convergebench.ids import content_hash
from convergebench.types import Case, Editor, Study


@dataclass(frozen=True)
class Chain:
    """One editor walking one case."""

    editor: str
    case: Case
    study: Study
    rounds: int

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
    dollars: float
    hours: float


def forecast(
    chains: Iterable[Chain], editors: Mapping[str, Editor], done: Mapping[tuple[str, str], int]
) -> list[EditorForecast]:
    """Calls still to make per editor, with their price and their time at the editor's limits.

    `done`: (editor, case) → steps that the run holds already.
    """
    calls: dict[str, int] = {}
    count: dict[str, int] = {}
    for chain in chains:
        count[chain.editor] = count.get(chain.editor, 0) + 1
        left = max(0, chain.study.calls(chain.case) - done.get((chain.editor, chain.case.id), 0))
        calls[chain.editor] = calls.get(chain.editor, 0) + left
    return [_forecast(editors[name], name, count[name], calls[name]) for name in count]


def _forecast(editor: Editor, name: str, chains: int, calls: int) -> EditorForecast:
    seconds = calls * editor.capabilities.seconds_per_call / min(editor.limits.at_once, max(1, chains))
    if editor.limits.per_minute is not None:
        seconds = max(seconds, calls * 60.0 / editor.limits.per_minute)
    return EditorForecast(name, chains, calls, calls * editor.capabilities.dollars_per_call, seconds / 3600)


def interleave(chains: Sequence[Chain]) -> list[Chain]:
    """Editors in turn, so that no editor waits for another's chains to begin."""
    queues: dict[str, list[Chain]] = {}
    for chain in chains:
        queues.setdefault(chain.editor, []).append(chain)
    longest = max(map(len, queues.values()), default=0)
    return [queue[index] for index in range(longest) for queue in queues.values() if index < len(queue)]
