"""People's labels as a CSV file: one row per chain and failure mode.

Everything is checked before anything is written; a fault is one line that names the row (as a spreadsheet counts them,
the heading is row 1) and the column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from convergebench.errors import StudyError
from convergebench.registry import suggest
from convergebench.sheets import csv_line, read_csv, unguarded
from convergebench.store.images import write_synced
from convergebench.store.labels import Label, Region

COLUMNS = ("editor", "case", "mode", "present", "step", "last", "x", "y", "width", "height", "by", "note")
BOX = ("x", "y", "width", "height")
ANSWERS = {"yes": True, "no": False}

Chain = tuple[str, str]
"""Editor and case."""


class LabelSheet(NamedTuple):
    """The labels of a file, and how many of its rows are still unanswered."""

    labels: list[Label]
    unanswered: int


def read_label_sheet(
    path: Path, chains: Mapping[Chain, int], modes: Collection[str], *, level_of: Callable[[str], str], made: str
) -> LabelSheet:
    """The labels of a file; `chains` says how many steps each has, `level_of` at which level a mode is."""
    labels: list[Label] = []
    rows_of: dict[tuple[str, ...], dict[tuple[object, ...], int]] = {}
    unanswered = 0
    for number, cells in enumerate(_cells(path), start=2):
        row = _SheetRow(f"{path}, row {number}", cells)
        if not row.is_answered():
            unanswered += 1
            continue
        label = row.label(chains, modes, level_of, made)
        before = rows_of.setdefault((label.editor, label.case, label.mode, label.by), {})
        if label.says() in before:
            raise row.fault("present", f"row {before[label.says()]} says the same; keep one of the two")
        for (present, *_), earlier in islice(before.items(), 1):  # all of them say yes, or there is only this one
            if not (label.present and present):  # a failure may be seen in two places, but not be there and not
                raise row.fault("present", f"row {earlier} by {label.by} says otherwise; keep one of the two")
        before[label.says()] = number
        labels.append(label)
    return LabelSheet(labels, unanswered)


def write_template(path: Path, asked: Iterable[tuple[str, str, str]]) -> int:
    """Write a form with one row per (editor, case, mode), without the findings of rules; returns the number of rows."""
    if path.exists():
        raise StudyError(f"{path} exists and may hold labels; name another file")
    if not path.parent.is_dir():
        raise StudyError(f"{path} cannot be written: there is no folder {path.parent}; make it or name another file")
    rows = list(asked)
    lines = [list(COLUMNS), *([*row, *[""] * (len(COLUMNS) - 3)] for row in rows)]
    text = "".join(csv_line(line) for line in lines)
    write_synced(path, text.encode())
    return len(rows)


def _cells(path: Path) -> list[dict[str, str]]:
    heading, lines = read_csv(path)
    unknown = [name for name in heading if name not in COLUMNS]
    if unknown:
        raise StudyError(f"{path}, row 1: unknown column '{unknown[0]}'{suggest(unknown[0], COLUMNS)}")
    missing = [name for name in COLUMNS if name not in heading]
    if missing or len(heading) > len(COLUMNS):
        wrong = f"no column {', '.join(missing)}" if missing else "a column twice"
        raise StudyError(f"{path}, row 1: {wrong}; write a file to fill in with: cbench label RUN --template FILE.csv")
    found = []
    for number, line in enumerate(lines, start=2):
        if len(line) not in (0, len(heading)):
            raise StudyError(f"{path}, row {number}: {len(line)} cells under {len(heading)} columns")
        cells = line or [""] * len(heading)
        found.append({name: unguarded(cell.strip()) for name, cell in zip(heading, cells, strict=True)})
    return found


class _SheetRow:
    """One row, read cell by cell."""

    def __init__(self, where: str, cells: Mapping[str, str]) -> None:
        self.where = where
        self._cells = cells

    def is_answered(self) -> bool:
        """An untouched row of the template is no answer; a row that is filled in without yes or no is an error."""
        if self._cells["present"]:
            return True
        filled = next((name for name in ("step", "last", *BOX, "note") if self._cells[name]), None)
        if filled is not None:
            raise self.fault("present", f"say yes or no, since {filled} is filled in")
        return False

    def label(
        self, chains: Mapping[Chain, int], modes: Collection[str], level_of: Callable[[str], str], made: str
    ) -> Label:
        """The whole row, checked."""
        cell = self._cells
        chain = (cell["editor"], cell["case"])
        if chain not in chains:
            known = {one[0] for one in chains}
            name = "case" if chain[0] in known else "editor"
            among = [one[1] for one in chains if one[0] == chain[0]] if name == "case" else known
            raise self.fault(name, f"the run has no such chain{suggest(cell[name], among)}")
        if cell["mode"] not in modes:
            raise self.fault("mode", f"unknown failure mode{suggest(cell['mode'], modes)} (known: {', '.join(modes)})")
        present = ANSWERS.get(cell["present"].lower())
        if present is None:
            raise self.fault("present", "say yes or no")
        if not cell["by"]:
            raise self.fault("by", "say who looked")
        if not present and (filled := next((name for name in ("step", "last", *BOX) if cell[name]), None)):
            raise self.fault(filled, "leave it empty where nothing was seen")
        step = self._step("step", 1, chains[chain]) if present else None
        last = self._step("last", step or 1, chains[chain]) if cell["last"] else None
        return Label(
            *chain,
            mode=cell["mode"],
            level=level_of(cell["mode"]),
            present=present,
            step=step,
            last=last,
            shown=step,
            region=self._region() if present else None,
            evidence=None,
            confidence=None,
            source="person",
            by=cell["by"],
            detail=cell["note"],
            made=made,
        )

    def _step(self, name: str, least: int, most: int) -> int:
        try:
            step = int(self._cells[name])
        except ValueError:
            raise self.fault(name, f"give a whole number from {least} to {most}") from None
        if not least <= step <= most:
            raise self.fault(name, f"give a whole number from {least} to {most}")
        return step

    def _region(self) -> Region | None:
        if not any(self._cells[name] for name in BOX):
            return None
        x, y, width, height = (self._share(name) for name in BOX)
        for name, begin, length in (("width", x, width), ("height", y, height)):
            if length <= 0 or begin + length > 1 + 1e-6:
                raise self.fault(name, "the region must have a size and lie inside the picture (shares from 0 to 1)")
        return x, y, width, height

    def _share(self, name: str) -> float:
        try:
            share = float(self._cells[name])
        except ValueError:
            share = math.nan
        if not 0 <= share <= 1:
            raise self.fault(name, "give a share of the picture from 0 to 1, or leave x, y, width and height empty")
        return round(share, 6)  # as it is stored, so that the same list is known again

    def fault(self, column: str, what: str) -> StudyError:
        """What is wrong with a cell."""
        return StudyError(f"{self.where}, column {column}: '{self._cells[column]}': {what}")
