"""Other people's chains as a prepared run: the `replay` editor walks each recording as if it were live."""

from __future__ import annotations

import hashlib
from pathlib import Path

from convergebench.editors.replay import Recording, ReplayEditor, read_recordings
from convergebench.engine.plan import Chain
from convergebench.engine.session import Prepared
from convergebench.errors import StudyError
from convergebench.images.decode import probe
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import KINDS, Case, EditPair, SourceImage, State


def prepare_recordings(folder: Path, editor: str) -> Prepared:
    """Lay out every chain found below a folder; sources with equal bytes are one source."""
    recordings = read_recordings(folder)
    if not recordings:
        raise StudyError(
            f"no chain below {folder}; a chain is a folder with I0_source.png, I1_forward.png, I1_backward.png …"
        )
    sources: dict[str, SourceImage] = {}
    pairs: dict[str, EditPair] = {}
    chains, chain_of_case = [], {}
    for recording in recordings:
        source = _source(recording)
        source = sources.setdefault(source.sha256, source)
        pair = pairs.setdefault(recording.pair, _pair(recording))
        state = State(f"i1:{source.sha256}", f"i1:{source.sha256}")
        case = Case(f"{recording.id}/0", state, source.id, source.kind, (pair,))
        chain_of_case[case.id] = recording
        chains.append(Chain(editor, case, RoundTrip(rounds=recording.rounds), recording.rounds))
    replay = ReplayEditor(editor, recordings=chain_of_case)
    return Prepared(
        study="roundtrip",
        sources=tuple(sources.values()),
        pairs=tuple(pairs.values()),
        editors={editor: replay},
        chains=tuple(chains),
        metrics=(),
        spec={},
        fixed={},
        options={editor: {"use": "replay", "options": {"folder": folder.name}}},
    )


def _source(recording: Recording) -> SourceImage:
    data = recording.source.read_bytes()
    _, width, height = probe(data)
    return SourceImage(
        id=recording.source_id,
        kind=recording.kind,
        sha256=hashlib.sha256(data).hexdigest(),
        width=width,
        height=height,
        licence="unstated",
        source=f"imported: {recording.id}",
        read=recording.source.read_bytes,
    )


def _pair(recording: Recording) -> EditPair:
    return EditPair(
        id=recording.pair,
        category=recording.category,
        reversibility="preserving",
        kinds=KINDS,
        forward=recording.forward,
        backward=recording.backward,
        forward_operation=recording.forward_operation,
        backward_operation=recording.backward_operation,
    )
