"""People's ratings as a CSV file: one row per edit and criterion, as the rating page writes it.

Everything is checked before anything is written; a fault is one line that names the row (as a spreadsheet counts them,
the heading is row 1) and the column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from convergebench.conductor.factory_rating import name_fault
from convergebench.conductor.factory_sample import JudgedEdit
from convergebench.errors import StudyError
from convergebench.registry import suggest
from convergebench.sheets import read_csv, unguarded
from convergebench.studies.factory_table import CRITERIA
from convergebench.texts import short_line

COLUMNS = ("run", "editor", "case", "position", "image", "question", "value", "rater", "made")


class RatingKey(NamedTuple):
    """One answer: an edit may be shown to a rater twice, at two times."""

    editor: str
    case: str
    step: int
    question: str
    rater: str
    made: str


@dataclass(frozen=True, slots=True)
class GivenRating:
    """An answer of a person; `value` None: cannot tell."""

    key: RatingKey
    image: str
    value: float | None


def read_ratings(path: Path, run: str, edits: Iterable[JudgedEdit]) -> list[GivenRating]:
    """The ratings of a file, checked against the run's mark and its judged edits."""
    known = {one.place: one.image for one in edits}
    found: dict[RatingKey, GivenRating] = {}
    rows: dict[RatingKey, int] = {}
    for number, cells in _cells(path):
        rating = _RatingRowReader(f"{path}, row {number}", cells).rating(run, known)
        if rating.key in found and found[rating.key].value != rating.value:
            where = f"{path}, row {number}, column value"
            raise StudyError(
                f"{where}: row {rows[rating.key]} gives a different value for the same edit; keep one of the two"
            )
        found[rating.key], rows[rating.key] = rating, rows.get(rating.key, number)
    return list(found.values())


def _cells(path: Path) -> list[tuple[int, dict[str, str]]]:
    heading, lines = read_csv(path)
    if sorted(heading) != sorted(COLUMNS):
        wrong = next((f"unknown column '{short_line(name)}'" for name in heading if name not in COLUMNS), "")
        wrong = wrong or next((f"no column {name}" for name in COLUMNS if name not in heading), "a column twice")
        raise StudyError(f"{path}, row 1: {wrong}; make a page that writes such files with: cbench factory rate RUN")
    found = []
    for number, line in enumerate(lines, start=2):
        if not any(cell.strip() for cell in line):
            continue
        if len(line) != len(heading):
            raise StudyError(f"{path}, row {number}: {len(line)} cells under {len(heading)} columns")
        found.append((number, {name: unguarded(cell.strip()) for name, cell in zip(heading, line, strict=True)}))
    return found


class _RatingRowReader:
    """One row, read cell by cell."""

    def __init__(self, where: str, cells: Mapping[str, str]) -> None:
        self.where, self._cells = where, cells

    def rating(self, run: str, known: Mapping[tuple[str, str, int], str]) -> GivenRating:
        cell = self._cells
        if cell["run"] != run:
            raise self._fault("run", f"these are ratings of another run; this one is '{run}'")
        position = self._position()
        place = (cell["editor"], cell["case"], position)
        if place not in known:
            raise self._unknown(place, known)
        if cell["image"] != known[place]:
            raise self._fault("image", "the run has a different image there; rate it on a page made from this run")
        if cell["question"] not in CRITERIA:
            near = suggest(cell["question"], CRITERIA)
            raise self._fault("question", f"unknown criterion{near} (known: {', '.join(CRITERIA)})")
        if fault := name_fault(cell["rater"]):
            raise self._fault("rater", fault)
        key = RatingKey(*place, cell["question"], cell["rater"], self._made())
        return GivenRating(key, cell["image"], self._value())

    def _position(self) -> int:
        text = self._cells["position"]
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise self._fault("position", "give a whole number")
        return int(text)

    def _value(self) -> float | None:
        text = self._cells["value"]
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise self._fault("value", "give a number from 0 to 1, or nothing for 'cannot tell'")
        return value

    def _made(self) -> str:
        try:
            made = datetime.fromisoformat(self._cells["made"])
            return made.replace(tzinfo=made.tzinfo or UTC).astimezone(UTC).isoformat(timespec="microseconds")
        except (ValueError, OverflowError):
            raise self._fault("made", "give the time as 2026-01-31T12:00:00Z") from None

    def _unknown(self, place: tuple[str, str, int], known: Mapping[tuple[str, str, int], str]) -> StudyError:
        editors = {editor for editor, _, _ in known}
        if place[0] not in editors:
            return self._fault("editor", f"the run has no judged edit by it{suggest(place[0], editors)}")
        cases = {case for editor, case, _ in known if editor == place[0]}
        if place[1] not in cases:
            return self._fault("case", f"the run has no judged edit of it{suggest(place[1], cases)}")
        return self._fault("position", "the run has no judged edit there")

    def _fault(self, column: str, what: str) -> StudyError:
        return StudyError(f"{self.where}, column {column}: '{short_line(self._cells[column])}': {what}")
