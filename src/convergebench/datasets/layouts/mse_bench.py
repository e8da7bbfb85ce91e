"""MSE-Bench: five instructions per photograph, and the pictures that models made.

The benchmark has `image, index, context[5]`; the results have `turn_0_image, turn_1_image, …`, one split per model in
the order of the benchmark. `turn_0_image` is what the first instruction gave.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from convergebench.datasets.chains import (
    FoundChains,
    Picture,
    RecordedChain,
    RecordedSource,
    RecordedStep,
    session_chain,
)
from convergebench.datasets.layouts import SetLocation
from convergebench.datasets.pictures import in_table
from convergebench.datasets.rows import read_rows, require_columns, text_list
from convergebench.errors import StudyError
from convergebench.images.parquet_bounds import require_plausible_size
from convergebench.images.table_errors import table_errors

LOOKS_FOR = (
    "Parquet files of MSE-Bench (image, index, context) and of MSE-Bench-results (turn_0_image, turn_1_image, …)"
)
VARIANT = "mse-bench"

_SPLIT = re.compile(r"^(?P<name>.+?)-\d{5}-of-\d{5}$")
_TURN = re.compile(r"^turn_(\d+)_image$")


@dataclass(frozen=True, slots=True)
class _Instructions:
    index: str
    words: list[str]
    image: Picture


@dataclass(frozen=True, slots=True)
class _Answers:
    """One row of a model's split: its pictures by turn, None where the model gave none."""

    index: str | None
    turns: list[Picture | None]


def recognise(place: SetLocation) -> str | None:
    """The columns of the benchmark or of its results."""
    results = _results(place)
    if results:
        return f"{len(results)} Parquet files with turn_0_image"
    return "a Parquet file with image, index and context" if _benchmark(place) else None


def read(place: SetLocation, images: Path | None) -> FoundChains:
    """One chain per photograph and model."""
    tables = _benchmark(place) or (_benchmark(SetLocation(images)) if images else [])
    if not tables:
        raise StudyError(
            f"{place.path} has results but not the benchmark they answer (columns image, index, context); put it "
            "below the same folder, or name its folder with --images"
        )
    instructions = [one for path in tables for one in _read_instructions(path)]
    results = _results(place)
    if not results:
        raise StudyError(f"{place.path} has instructions but no images made from them; put MSE-Bench-results beside it")
    splits: dict[str, list[_Answers]] = defaultdict(list)
    for path in results:
        split = _SPLIT.match(path.stem)
        splits[split["name"] if split else path.stem].extend(_read_answers(path))
    chains: list[RecordedChain] = []
    faults: list[str] = []
    for model, answers in splits.items():
        for instruction, answer in _paired(model, instructions, answers):
            try:
                chains.append(_chain(model, instruction, answer))
            except StudyError as error:
                faults.append(str(error))
    return FoundChains(tuple(chains), tuple(faults))


def _benchmark(place: SetLocation) -> list[Path]:
    return place.with_columns("image", "index", "context", suffix=".parquet")


def _results(place: SetLocation) -> list[Path]:
    return place.with_columns("turn_0_image", suffix=".parquet")


def _read_instructions(path: Path) -> Iterator[_Instructions]:
    for number, row in enumerate(read_rows(path, ("index", "context"))):
        require_columns(row, ("index", "context"), what=str(path))
        words = text_list(row["context"], what=f"{path}, row {number}: context")
        yield _Instructions(str(row["index"]), words, in_table(path, "image", number))


def _read_answers(path: Path) -> Iterator[_Answers]:
    with table_errors(path):
        schema = pl.read_parquet_schema(path)
    turns = sorted(int(found[1]) for found in map(_TURN.match, schema) if found)
    if turns != list(range(len(turns))):
        raise StudyError(
            f"{path} has the turns {', '.join(map(str, turns))}; columns turn_0_image, turn_1_image … needed"
        )
    # whether a picture is there, without reading it
    there = [_present(f"turn_{turn}_image", schema[f"turn_{turn}_image"]) for turn in turns]
    index = [pl.col("index").cast(pl.String)] if "index" in schema else []
    require_plausible_size(path, list(schema))
    with table_errors(path):
        rows = pl.scan_parquet(path).select(*there, *index).collect().to_dicts()
    for number, row in enumerate(rows):
        pictures = [
            in_table(path, f"turn_{turn}_image", number) if row[f"turn_{turn}_image"] else None for turn in turns
        ]
        yield _Answers(row.get("index"), pictures)


def _present(column: str, kind: pl.DataType) -> pl.Expr:
    cell = pl.col(column)
    if isinstance(kind, pl.Struct):
        cell = cell.struct.field("bytes")
    return cell.is_not_null().alias(column)


def _paired(
    model: str, instructions: Sequence[_Instructions], answers: Sequence[_Answers]
) -> list[tuple[_Instructions, _Answers]]:
    """By index where the results have one, else row by row."""
    by_index = {instruction.index: instruction for instruction in instructions}
    if all(answer.index is not None for answer in answers):
        unknown = [answer.index for answer in answers if answer.index not in by_index]
        if unknown:
            raise StudyError(f"MSE-Bench, {model}: the benchmark has no index {unknown[0]}")
        return [(by_index[str(answer.index)], answer) for answer in answers]
    if len(instructions) != len(answers):
        raise StudyError(
            f"MSE-Bench, {model}: {len(answers)} rows of results for {len(instructions)} of the benchmark, and no "
            f"index to match them; download all files of the split"
        )
    return list(zip(instructions, answers, strict=True))


def _chain(model: str, instruction: _Instructions, answer: _Answers) -> RecordedChain:
    made = [picture for picture in answer.turns if picture is not None]
    if any(picture is None for picture in answer.turns[: len(made)]):
        gap = answer.turns.index(None)
        raise StudyError(
            f"MSE-Bench {instruction.index}, {model}: no picture of turn {gap}, but later ones; download the split "
            f"again"
        )
    if not made:
        raise StudyError(f"MSE-Bench {instruction.index}, {model}: no picture of any turn")
    if len(made) > len(instruction.words):
        raise StudyError(
            f"MSE-Bench {instruction.index}, {model}: {len(made)} pictures for {len(instruction.words)} instructions"
        )
    steps = [RecordedStep(picture, words) for picture, words in zip(made, instruction.words, strict=False)]
    name, origin = f"mse-bench-{instruction.index}", f"MSE-Bench {instruction.index}"
    source, unanswered = RecordedSource(name, instruction.image, origin=origin), tuple(instruction.words[len(made) :])
    return session_chain(source, steps, origin="MSE-Bench", editor=model, variant=VARIANT, unanswered=unanswered)
