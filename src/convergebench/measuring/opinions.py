"""Pictures that people rated: a CSV file of paths and mean opinion scores, scored by the metrics that are audited."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from convergebench.documents import read_text
from convergebench.errors import StudyError
from convergebench.measuring.asking import ask_files
from convergebench.measuring.files import score
from convergebench.measuring.measure import split_metrics
from convergebench.metrics.place import PROCESSOR, Place
from convergebench.progress import Progress
from convergebench.roles.base import Role

COLUMNS = ("image", "mos")
MOST_FAULTS = 5
"""Faults that one error message lists."""
LONGEST_NAME = 4096
"""Characters of a path."""


class Rated(NamedTuple):
    """A picture with its mean opinion score; higher is better."""

    name: str
    """As written in the file."""
    path: Path
    mos: float


class Opinion(NamedTuple):
    """The mean opinion score and one metric's value of one picture."""

    picture: str
    mos: float
    metric: str
    value: float | None
    status: str


def read_opinions(file: Path) -> list[Rated]:
    """The pictures of a file, paths relative to it; `StudyError` lists bad rows by line."""
    try:
        return _pictures(file)
    except csv.Error as error:
        raise StudyError(f"{file} is not valid CSV ({error}); it should begin with: image,mos") from error


def _pictures(file: Path) -> list[Rated]:
    # only CR and LF end a row; a file name may hold other characters that Python treats as line breaks
    reader = csv.DictReader(io.StringIO(read_text(file), newline=""), strict=True)
    head = [name.strip() for name in reader.fieldnames or ()]
    missing = [name for name in COLUMNS if name not in head]
    if missing:
        raise StudyError(f"{file}: no column '{missing[0]}' in its first line; it should begin with: image,mos")
    reader.fieldnames = head
    found: dict[Path, Rated] = {}
    faults: list[str] = []
    for row in reader:
        name, word = ((row[column] or "").strip() for column in COLUMNS)
        fault = _fault(name, word, file.parent, found)
        if fault:
            faults.append(f"line {reader.line_num}: {fault}")
        else:
            # one picture has one row, however its path is spelt
            found[(file.parent / name).resolve()] = Rated(name, file.parent / name, float(word))
    if faults:
        more = f"; and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
        raise StudyError(f"{file}: {'; '.join(faults[:MOST_FAULTS])}{more}")
    if not found:
        raise StudyError(f"{file} rates no image; write a line for each: image,mos")
    return list(found.values())


def _fault(name: str, word: str, folder: Path, before: Mapping[Path, Rated]) -> str:
    if not name:
        return "no image"
    if "\0" in name or len(name) > LONGEST_NAME:
        return f"{name[:40]!a} is not the name of a file"
    if (folder / name).resolve() in before:
        return f"{name} is rated twice"
    if not (folder / name).is_file():
        return f"there is no image {name}"
    try:
        number = float(word)
    except ValueError:
        return f"mos '{word}' is not a number" if word else "no mos"
    return "" if math.isfinite(number) else f"mos '{word}' is not a number"


def score_opinions(
    rated: Sequence[Rated],
    metrics: Sequence[str],
    roles: Mapping[str, Role],
    *,
    place: Place = PROCESSOR,
    workers: int | None = None,
    max_cost: float | None = None,
    progress: Progress | None = None,
) -> Iterator[Opinion]:
    """Every metric of every rated picture."""
    pixels, questions = split_metrics(metrics)
    by_path = {str(one.path): one for one in rated}
    paths = [one.path for one in rated]
    if pixels:
        for got in score(paths, pixels, references={}, workers=workers, place=place, progress=progress):
            one = by_path[got.path]
            yield Opinion(one.name, one.mos, got.metric, got.reading.value, got.reading.status)
    if questions:
        options: dict[str, Any] = {"max_cost": max_cost, **({"progress": progress} if progress else {})}
        for one, readings in zip(rated, ask_files(paths, questions, roles, references={}, **options), strict=True):
            for name, reading in readings.items():
                yield Opinion(one.name, one.mos, name, reading.value, reading.status)
