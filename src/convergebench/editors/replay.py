"""An editor that answers from recorded chains: somebody else's outputs, measured like one's own."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from pathlib import Path

from convergebench import ids
from convergebench.editors.recordings import Recording, read_recordings
from convergebench.errors import Exhausted, StudyError
from convergebench.registry import suggest
from convergebench.types import Capabilities, Edited, EditRequest, Limits

__all__ = ["Recording", "ReplayEditor", "read_recordings", "replay"]

_MIMES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}


class ReplayEditor:
    """Serves recorded files as they are.

    `cases` maps case ids to chain names; a case that is not in it must itself be a chain's name. Step 1 is
    I1_forward, step 2 I1_backward, and so on; past the end of a chain it raises Exhausted.
    """

    def __init__(self, name: str, folder: Path | str, *, cases: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.recordings = {recording.id: recording for recording in read_recordings(folder)}
        self.cases = dict(cases or {})
        for chain in self.cases.values():
            self._recording(chain)
        self.fingerprint = ids.fingerprint("replay", 1, {"files": _contents(self.recordings)})
        self.capabilities = Capabilities(seconds_per_call=0.01)
        self.limits = Limits(at_once=4)

    async def edit(self, request: EditRequest) -> Edited:
        """The recorded image of this step, whatever the words."""
        recording = self._recording(self.cases.get(request.case, request.case))
        if request.index < 1:
            raise StudyError(f"steps of a recording count from 1, not {request.index}")
        if request.index > len(recording.steps):
            raise Exhausted(f"recording '{recording.id}' ends after {len(recording.steps)} steps")
        path = recording.steps[request.index - 1]
        data = await asyncio.to_thread(path.read_bytes)
        return Edited(data, _MIMES[path.suffix.lower()], self.name)

    def _recording(self, chain: str) -> Recording:
        if chain not in self.recordings:
            raise StudyError(f"editor '{self.name}' has no recording '{chain}'{suggest(chain, self.recordings)}")
        return self.recordings[chain]


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
        raise StudyError(f"option 'cases' of {name} is a table of case = chain, not {cases!r}")
    return ReplayEditor(name, folder, cases={str(case): str(chain) for case, chain in cases.items()})


def _contents(recordings: Mapping[str, Recording]) -> dict[str, list[str]]:
    """What each chain holds, source first."""
    return {
        name: [hashlib.sha256(path.read_bytes()).hexdigest() for path in (recording.source, *recording.steps)]
        for name, recording in recordings.items()
    }
