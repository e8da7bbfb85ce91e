"""Published round trips: a folder per chain with `I0_source.png`, `I1_forward.png`, `I1_backward.png` and so on."""

from __future__ import annotations

import re
from pathlib import Path

from convergebench.datasets.chains import FoundChains, RecordedChain, RecordedSource, RecordedStep, RoundTripWords
from convergebench.datasets.layouts import SetLocation
from convergebench.datasets.pictures import in_file
from convergebench.errors import StudyError
from convergebench.images.round_trips import SUFFIXES, Recording, read_recordings

LOOKS_FOR = "CHAIN/I0_source.png, CHAIN/I1_forward.png, CHAIN/I1_backward.png, …"

_NAME = re.compile(r"^I\d+_(source|forward|backward)$", re.IGNORECASE)


def recognise(place: SetLocation) -> str | None:
    """Images named after the round and the direction."""
    named = [path for path in place.files if path.suffix.lower() in SUFFIXES and _NAME.match(path.stem)]
    if not named or place.path.is_file():
        return None
    return f"{len(named)} images named like {named[0].name}"


def read(place: SetLocation, images: Path | None) -> FoundChains:
    """Every chain folder; a broken one is an error that says what to repair."""
    if place.strays:
        raise StudyError(f"{min(place.strays)} is a link that leads out of {place.root}; put the file itself there")
    return FoundChains(tuple(_chain(recording) for recording in read_recordings(place.path)))


def _chain(recording: Recording) -> RecordedChain:
    words = RoundTripWords(recording.forward, recording.backward)
    return RecordedChain(
        id=recording.id,
        editor=None,
        variant=recording.pair,
        run=0,
        source=RecordedSource(
            id=recording.source_id,
            picture=in_file(recording.source),
            kind=recording.kind if recording.kind_is_stated else None,
            origin=f"imported: {recording.id}",
        ),
        steps=tuple(RecordedStep(in_file(path), words[place % 2]) for place, path in enumerate(recording.steps)),
        origin="recorded",
        family=recording.category,
        round_trip=words,
    )
