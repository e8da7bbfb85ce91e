"""Editors that play back recorded chains, so that outputs of others can be measured."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convergebench import ids
from convergebench.errors import Exhausted, StudyError
from convergebench.images.decode import probe
from convergebench.images.round_trips import Recording, read_recordings
from convergebench.registry import suggest
from convergebench.types import Capabilities, Edited, EditRequest, Limits

__all__ = ["PlaybackEditor", "RecordedAnswer", "Recording", "ReplayEditor", "read_recordings", "replay"]


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One recorded step: how to load its image, and what is known of the call that made it."""

    read: Callable[[], bytes] = field(repr=False)
    model: str | None = None
    dollars: float = 0.0
    reasoning: str | None = None
    used: Mapping[str, Any] = field(default_factory=dict)


class PlaybackEditor:
    """Returns recorded images unchanged, whatever the instruction.

    `chains` are the steps by chain, in order. `cases` maps case ids to chains; a case that is not in it must itself be
    a chain's name. Past the end of a chain it raises Exhausted.
    """

    def __init__(
        self,
        name: str,
        chains: Mapping[str, Sequence[RecordedAnswer]],
        *,
        fingerprint: str,
        cases: Mapping[str, str] | None = None,
        simulated: bool = False,
        instructed: bool = True,
    ) -> None:
        self.name = name
        self.chains = dict(chains)
        self.cases = dict(cases or {})
        for chain in self.cases.values():
            self._chain(chain)
        self.fingerprint = fingerprint
        self.capabilities = Capabilities(seconds_per_call=0.01, simulated=simulated, instructed=instructed)
        self.limits = Limits(at_once=4)

    async def edit(self, request: EditRequest) -> Edited:
        """The recorded image of this step."""
        chain = self.cases.get(request.case, request.case)
        steps = self._chain(chain)
        if request.index < 1:
            raise StudyError(f"steps of a recording count from 1, not {request.index}")
        if request.index > len(steps):
            raise Exhausted(f"recording '{chain}' ends after {len(steps)} steps")
        step = steps[request.index - 1]
        data = await asyncio.to_thread(step.read)
        model = step.model or self.name
        return Edited(data, probe(data).mime, model, step.dollars, step.reasoning, None, step.used)

    def _chain(self, chain: str) -> Sequence[RecordedAnswer]:
        if chain not in self.chains:
            raise StudyError(f"editor '{self.name}' has no recording '{chain}'{suggest(chain, self.chains)}")
        return self.chains[chain]


class ReplayEditor(PlaybackEditor):
    """Plays a folder of round trips: step 1 is I1_forward, step 2 I1_backward, and so on."""

    def __init__(self, name: str, folder: Path | str, *, cases: Mapping[str, str] | None = None) -> None:
        self.recordings = {recording.id: recording for recording in read_recordings(folder)}
        chains = {id: [RecordedAnswer(path.read_bytes) for path in one.steps] for id, one in self.recordings.items()}
        fingerprint = ids.fingerprint("replay", 1, {"files": _contents(self.recordings)})
        super().__init__(name, chains, fingerprint=fingerprint, cases=cases)


def replay(name: str, **options: object) -> ReplayEditor:
    """`replay`: answers from a folder of recorded chains; options `folder` and `cases` (case id → chain)."""
    known = ("folder", "cases")
    for option in options:
        if option not in known:
            raise StudyError(f"{name} has no option '{option}'{suggest(option, known)} (its options: folder, cases)")
    folder, cases = options.get("folder"), options.get("cases", {})
    if not isinstance(folder, str | Path):
        raise StudyError(f"{name} needs the folder of recorded chains: folder = 'path/to/chains'")
    if not isinstance(cases, Mapping):
        raise StudyError(f"option 'cases' of {name} must be a table of case = chain, not {cases!r}")
    return ReplayEditor(name, folder, cases={str(case): str(chain) for case, chain in cases.items()})


def _contents(recordings: Mapping[str, Recording]) -> dict[str, list[str]]:
    """Content hashes of each chain's images, source first."""
    return {
        name: [hashlib.sha256(path.read_bytes()).hexdigest() for path in (recording.source, *recording.steps)]
        for name, recording in recordings.items()
    }
