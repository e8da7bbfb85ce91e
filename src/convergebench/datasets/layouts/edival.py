"""EdiVal: three instructions per photograph in a CSV with Python lists, and folders of the models' pictures.

`input_images_resize_512.zip` (or the folder of that name) has `0_input_raw.jpg`; `baseline_generations/MODEL/multipass`
has `0_input_raw_turn_1.png`, each made from the one before.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from convergebench.datasets.chains import (
    FoundChains,
    Picture,
    RecordedChain,
    RecordedSource,
    RecordedStep,
    session_chain,
)
from convergebench.datasets.layouts import SetLocation
from convergebench.datasets.pictures import in_file, in_zip, is_image
from convergebench.datasets.rows import read_rows, require_columns, text_list
from convergebench.errors import StudyError
from convergebench.types import Operation

LOOKS_FOR = "a CSV with image_index, turns, instructions, and MODEL/multipass/0_input_raw_turn_1.png"
LICENCE = "CC-BY-SA-4.0"
VARIANT = "edival"

_COLUMNS = ("image_index", "turns", "task_type", "instructions")
_TURN = re.compile(r"^(\d+)_input_raw_turn_(\d+)$")
_INPUT = re.compile(r"^(\d+)_input_raw$")
_OPERATIONS: dict[str, Operation] = {"subject_add": "add", "subject_remove": "remove"}


class _Instructions(NamedTuple):
    words: list[str]
    operations: list[Operation]


def recognise(place: SetLocation) -> str | None:
    """The table of instructions."""
    tables = _tables(place)
    return f"{place.inside(tables[0])} with image_index, turns and instructions" if tables else None


def read(place: SetLocation, images: Path | None) -> FoundChains:
    """One chain per photograph and model."""
    instructions = {index: one for path in _tables(place) for index, one in _read_instructions(path).items()}
    models = _generations([place, *([SetLocation(images)] if images else [])])
    if not models:
        raise StudyError(
            f"{place.path} has instructions but no images made from them; put baseline_generations/MODEL/multipass "
            "below it, or name its folder with --images"
        )
    inputs = _inputs([place, *([SetLocation(images)] if images else [])])
    chains: list[RecordedChain] = []
    faults: list[str] = []
    notes: list[str] = []
    for model, turns in models.items():
        unknown = sorted(set(turns) - set(instructions))
        faults += [f"EdiVal {index}, {model}: images without an instruction in the table" for index in unknown]
        idle = len(set(instructions) - set(turns))
        if idle:
            notes.append(f"{model} has no result for {idle} of the {len(instructions)} photographs with instructions")
        for index in sorted(set(turns) & set(instructions)):
            try:
                chains.append(_chain(model, index, instructions[index], turns[index], inputs))
            except StudyError as error:
                faults.append(str(error))
    return FoundChains(tuple(chains), tuple(faults), tuple(notes))


def _tables(place: SetLocation) -> list[Path]:
    return place.with_columns("image_index", "turns", "instructions", suffix=".csv")


def _read_instructions(path: Path) -> dict[int, _Instructions]:
    """The longest row of each photograph; the table has one for every number of turns."""
    found: dict[int, _Instructions] = {}
    for line, row in enumerate(read_rows(path), start=2):
        require_columns(row, _COLUMNS, what=str(path))
        what = f"{path}, line {line}"
        words = [one.strip('"') for one in text_list(row["instructions"], what=f"{what}: instructions")]
        tasks = text_list(row["task_type"], what=f"{what}: task_type")
        try:
            index, turns = int(row["image_index"]), int(row["turns"])
        except ValueError as error:
            raise StudyError(f"{what}: image_index and turns are whole numbers ({error})") from error
        if not len(words) == len(tasks) == turns:
            raise StudyError(f"{what}: {turns} turns, but {len(words)} instructions and {len(tasks)} task types")
        if index not in found or len(words) > len(found[index].words):
            found[index] = _Instructions(words, [_OPERATIONS.get(task, "change") for task in tasks])
    return found


def _generations(places: list[SetLocation]) -> dict[str, dict[int, dict[int, Path]]]:
    """Model → photograph → turn → file, of the folders called `multipass`."""
    found: dict[str, dict[int, dict[int, Path]]] = defaultdict(lambda: defaultdict(dict))
    for place in places:
        for path in place.files:
            turn = _TURN.match(path.stem)
            if turn and is_image(path) and path.parent.name == "multipass":
                found[path.parent.parent.name][int(turn[1])][int(turn[2])] = path
    return found


def _inputs(places: list[SetLocation]) -> Mapping[int, Picture]:
    """The photographs, from the archive or its folder, else from a model's own copy."""
    copies: dict[int, Picture] = {}
    found: dict[int, Picture] = {}
    for place in places:
        for path in place.files:
            if path.suffix == ".zip" and "input_images" in path.name:
                for name in _members(path):
                    photograph = _INPUT.match(Path(name).stem)
                    if photograph:
                        found[int(photograph[1])] = in_zip(path, name)
            photograph = _INPUT.match(path.stem)
            if photograph and is_image(path):
                home = copies if path.parent.name in ("multipass", "singlepass") else found
                home.setdefault(int(photograph[1]), in_file(path))
    return {**copies, **found}


def _members(archive: Path) -> list[str]:
    try:
        with zipfile.ZipFile(archive) as opened:
            return opened.namelist()
    except (OSError, zipfile.BadZipFile, RuntimeError, ValueError, struct.error) as error:
        raise StudyError(f"cannot read {archive}: {error}") from error


def _chain(
    model: str, index: int, instructions: _Instructions, turns: Mapping[int, Path], inputs: Mapping[int, Picture]
) -> RecordedChain:
    if index not in inputs:
        raise StudyError(
            f"EdiVal {index}: no photograph {index}_input_raw; put input_images_resize_512.zip into the folder or name "
            "its folder with --images"
        )
    numbers = sorted(turns)
    if numbers != list(range(1, len(numbers) + 1)):
        have = ", ".join(map(str, numbers))
        raise StudyError(f"EdiVal {index}, {model}: turns {have} are there; a chain needs 1, 2, 3 without a gap")
    if len(numbers) > len(instructions.words):
        raise StudyError(f"EdiVal {index}, {model}: {len(numbers)} pictures for {len(instructions.words)} instructions")
    steps = [
        RecordedStep(in_file(turns[number]), instructions.words[number - 1], instructions.operations[number - 1])
        for number in numbers
    ]
    source = RecordedSource(f"edival-{index}", inputs[index], origin=f"EdiVal {index}")
    unanswered = tuple(instructions.words[len(numbers) :])
    return session_chain(
        source, steps, origin="EdiVal", editor=model, variant=VARIANT, licence=LICENCE, unanswered=unanswered
    )
