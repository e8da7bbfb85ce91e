"""Other people's chains as a prepared run: the `replay` editor walks each recording as if it were live."""

from __future__ import annotations

import hashlib
from pathlib import Path

from convergebench.editors.recordings import Recording, read_recordings
from convergebench.editors.replay import ReplayEditor
from convergebench.editors.simulated.instruction import GEOMETRY, understand
from convergebench.engine.plan import Chain
from convergebench.engine.session import Prepared
from convergebench.ids import content_hash
from convergebench.images.decode import probe
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import KINDS, Case, EditPair, Operation, SourceImage, State


def prepare_recordings(folder: Path, editor: str) -> Prepared:
    """Lay out every chain found below a folder; sources with equal bytes are one source."""
    recordings = read_recordings(folder)
    sources: dict[str, SourceImage] = {}
    pairs: dict[str, EditPair] = {}
    chains: list[Chain] = []
    chain_of_case: dict[str, str] = {}
    contents: dict[str, str] = {}
    for recording in recordings:
        source = _source(recording)
        source = sources.setdefault(source.sha256, source)
        pair = pairs.setdefault(recording.pair, _pair(recording))
        # a recording has no seed: what tells two chains of one source apart is what is in them
        contents[f"{editor}/{recording.id}"] = content = _content(recording)
        state = State(content, f"i1:{source.sha256}")
        case = Case(recording.id, state, source.id, source.kind, (pair,))
        chain_of_case[case.id] = recording.id
        rounds = recording.rounds + recording.half_round
        chains.append(Chain(editor, case, RoundTrip(rounds=rounds), rounds))
    replay = ReplayEditor(editor, folder, cases=chain_of_case)
    replay.fingerprint = "replay@1"  # the chains carry their contents themselves, so that more can be added later
    return Prepared(
        study="roundtrip",
        sources=tuple(sources.values()),
        edits=RoundTrip().edits([chain.case for chain in chains]),
        editors={editor: replay},
        chains=tuple(chains),
        metrics=(),
        spec={},
        fixed={},
        options={editor: {"use": "replay", "options": {}}},
        recordings=contents,
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
        forward=recording.forward or f"{recording.pair}, forward (words not recorded)",
        backward=recording.backward or f"{recording.pair}, backward (words not recorded)",
        forward_operation=_operation(recording.forward or recording.pair, "add"),
        backward_operation=_operation(recording.backward or recording.pair, "remove"),
    )


def _operation(words: str, otherwise: Operation) -> Operation:
    """What the words ask for, as far as it can be checked: exact geometry, or a thing put in or taken out."""
    action = understand(words.replace("_", " ")).action
    return action if action in GEOMETRY else otherwise


def _content(recording: Recording) -> str:
    files = (recording.source, *recording.steps)
    return content_hash([hashlib.sha256(path.read_bytes()).hexdigest() for path in files])
