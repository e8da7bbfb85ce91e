"""MagicBrush: people's instructions, turn by turn, with targets that people made with a tool.

The Hub has it as Parquet (`img_id, turn_index, source_img, mask_img, instruction, target_img`); the archives of its
authors have `edit_sessions.json` or `edit_turns.json` beside `images/ID/ID-input.png`, `ID-output1.png`, …
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.datasets.chains import (
    FoundChains,
    Picture,
    RecordedChain,
    RecordedSource,
    RecordedStep,
    session_chain,
)
from convergebench.datasets.layouts import SetLocation
from convergebench.datasets.pictures import in_folder, in_table
from convergebench.datasets.rows import columns_of, read_json, read_rows, require_columns, require_unicode
from convergebench.errors import StudyError

LOOKS_FOR = (
    "Parquet files with img_id, turn_index, source_img, instruction, target_img; or edit_sessions.json or "
    "edit_turns.json beside images/"
)
LICENCE = "CC-BY-4.0"
VARIANT = "magicbrush"

_COLUMNS = ("img_id", "turn_index", "instruction", "source_img", "target_img")
_LISTS = ("edit_sessions.json", "edit_turns.json")


@dataclass(frozen=True, slots=True)
class _Turn:
    number: int
    instruction: str
    source: Picture
    target: Picture


def recognise(place: SetLocation) -> str | None:
    """Its columns, or its lists of turns."""
    tables = _tables(place)
    if tables:
        return f"{len(tables)} Parquet files with img_id and turn_index"
    lists = _lists(place)
    return f"{lists[0].name} beside {lists[0].parent / 'images'}" if lists else None


def read(place: SetLocation, images: Path | None) -> FoundChains:
    """One chain per image, its turns in order."""
    sessions: dict[str, list[_Turn]] = defaultdict(list)
    faults: list[str] = []
    for path in _tables(place):
        for image, turn in _rows(path):
            sessions[image].append(turn)
    for path in [] if sessions else _lists(place):
        _read_list(path, sessions, faults)
    chains = []
    for image, turns in sessions.items():
        try:
            chains.append(_chain(image, sorted(turns, key=lambda turn: turn.number)))
        except StudyError as error:
            faults.append(str(error))
    return FoundChains(tuple(chains), tuple(faults))


def _tables(place: SetLocation) -> list[Path]:
    return place.with_columns("img_id", "turn_index", suffix=".parquet")


def _lists(place: SetLocation) -> list[Path]:
    """One list per folder, preferably of sessions."""
    by_folder: dict[Path, Path] = {}
    for name in _LISTS:
        for path in place.files:
            if path.name == name and (path.parent / "images").is_dir():
                by_folder.setdefault(path.parent, path)
    return list(by_folder.values())


def _rows(path: Path) -> Iterator[tuple[str, _Turn]]:
    require_columns(dict.fromkeys(columns_of(path)), _COLUMNS, what=str(path))
    for number, row in enumerate(read_rows(path, _COLUMNS[:3])):
        pictures = [in_table(path, column, number) for column in ("source_img", "target_img")]
        yield str(row["img_id"]), _Turn(_turn(row["turn_index"], path, number), _words(row["instruction"]), *pictures)


def _turn(value: Any, path: Path, number: int) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise StudyError(f"{path}, row {number}: turn_index is not a number: {str(value)[:60]!r}") from error


def _read_list(path: Path, sessions: dict[str, list[_Turn]], faults: list[str]) -> None:
    content = read_json(path)
    lists = list(content.values()) if isinstance(content, Mapping) else [content]
    if not all(isinstance(turns, list) and all(isinstance(turn, Mapping) for turn in turns) for turns in lists):
        raise StudyError(f"{path} should contain lists of turns, each an object; download the file again")
    if isinstance(content, Mapping):
        entries = [(str(image), turn) for image, turns in content.items() for turn in turns]
    else:
        entries = [(str(turn.get("input", "")).split("-")[0], turn) for turn in content]
    broken: dict[str, str] = {}
    for image, entry in entries:
        number = len(sessions[image]) + 1
        try:
            sessions[image].append(_listed(path.parent / "images", image, number, entry))
        except StudyError as error:
            broken.setdefault(image, str(error))
    for image, fault in broken.items():
        del sessions[image]
        faults.append(fault)


def _listed(folder: Path, image: str, number: int, entry: Mapping[str, Any]) -> _Turn:
    what = f"MagicBrush {image}, turn {number}"
    require_columns(dict(entry), ("input", "output", "instruction"), what=what)
    require_unicode(dict(entry), what=what)
    if not isinstance(entry["input"], str) or not isinstance(entry["output"], str):
        raise StudyError(f"{what}: input and output must be file names")
    # a later turn starts from the output of the one before and names it
    before = f"{image}-output{number - 1}" if number > 1 else None
    if before is not None and Path(entry["input"]).stem != before:
        raise StudyError(f"MagicBrush {image}: turn {number} starts from {entry['input']}, not from {before}.png")
    pictures = []
    for name in (entry["input"], entry["output"]):
        picture = in_folder(folder, f"{image}/{name}")
        if picture is None:
            raise StudyError(f"MagicBrush {image}: no file {folder / image / name}; download the images again")
        pictures.append(picture)
    return _Turn(number, _words(entry["instruction"]), *pictures)


def _chain(image: str, turns: Sequence[_Turn]) -> RecordedChain:
    numbers = [turn.number for turn in turns]
    if numbers != list(range(1, len(turns) + 1)):
        have = ", ".join(map(str, numbers))
        raise StudyError(f"MagicBrush {image}: turns {have} are there; a chain needs 1, 2, 3 … without a gap")
    source = RecordedSource(f"magicbrush-{image}", turns[0].source, origin=f"MagicBrush {image}")
    steps = (RecordedStep(turn.target, turn.instruction) for turn in turns)
    return session_chain(source, steps, origin="MagicBrush", editor=None, variant=VARIANT, licence=LICENCE)


def _words(value: Any) -> str:
    return " ".join(str(value or "").split())
