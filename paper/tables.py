"""The tables behind the paper, read from the result pages under docs/: every number has one source.

`tables.toml` says where each table is (page, mark, the text it follows, which one) and what its columns are
called. A cell such as `0.89 (0.87 … 0.92)`, `11/60 (7–40 %)` or `+2.7 (+0.1 to +6.9)` becomes a number with an
interval; text stays text.
"""

from __future__ import annotations

import csv
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = Path(__file__).with_name("tables.toml")

_NUMBER = r"[+\-−]?\d[\d,]*(?:\.\d+)?"
_CELL = re.compile(
    rf"(?P<value>{_NUMBER})\s*(?:(?:/|of)\s*(?P<of>\d[\d,]*))?\s*%?"
    rf"(?:\s*\((?:\d+/\d+ images, )?(?P<low>{_NUMBER})\s*%?\s*(?:…|–|to)\s*(?P<high>{_NUMBER})\s*%?\))?"
    r"\s*(?P<flag>[!+])?"
)


class TableError(Exception):
    """A table, row or column is not where the paper expects it."""


@dataclass(frozen=True)
class Cell:
    """One cell: its text, and its number with an interval and a total where it has them."""

    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    of: float | None = None

    @property
    def number(self) -> float:
        """The number; raises if the cell has none."""
        if self.value is None:
            raise TableError(f"the cell '{self.text}' is not a number")
        return self.value


def read_cell(text: str) -> Cell:
    """A cell of a Markdown table."""
    plain = text.strip().replace("`", "").replace("**", "")
    found = _CELL.fullmatch(plain)
    one_end = re.fullmatch(rf"({_NUMBER}) \((≥ )?(\d+)\)", plain)
    if one_end:  # `4 (≥ 3)`: the upper end was not reached; `2 (2)`: both ends are the value
        value, end = _number(one_end[1]), _number(one_end[3])
        return Cell(plain, value, end, None if one_end[2] else end)
    if found is None:  # `> 10 (≥ 1)`: not reached within ten rounds
        return Cell(plain, math.inf if re.match(r"> \d+", plain) else None)
    numbers = (_number(found[name]) for name in ("value", "low", "high", "of"))
    return Cell(plain, *numbers)


def _number(text: str | None) -> float | None:
    return None if text is None else float(text.replace("−", "-").replace(",", ""))


Row = Mapping[str, Cell]


@dataclass(frozen=True)
class Table:
    """A table by its name in the paper."""

    name: str
    page: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def row(self, **wanted: object) -> Row:
        """The only row whose cells have these texts (or numbers)."""
        found = [row for row in self.rows if all(_is(row[key], value) for key, value in wanted.items())]
        if len(found) != 1:
            raise TableError(f"{self.name} ({self.page}) has {len(found)} rows with {wanted}, and not one")
        return found[0]

    def cell(self, column: str, **wanted: object) -> Cell:
        """One cell of the row that is described."""
        if column not in self.columns:
            raise TableError(
                f"{self.name} ({self.page}) has no column '{column}' (there are {', '.join(self.columns)})"
            )
        return self.row(**wanted)[column]

    def column(self, name: str) -> list[Cell]:
        """All cells of a column."""
        return [row[name] for row in self.rows]

    def write_csv(self, folder: Path) -> Path:
        """As a table that the claims checker reads: `x`, and `x_low`, `x_high`, `x_of` where a cell has them."""
        fields: list[tuple[str, str, str]] = []
        for column in self.columns:
            cells = self.column(column)
            numeric = any(cell.value is not None for cell in cells)
            fields.append((column, column, "value" if numeric else "text"))
            parts = [part for part in ("low", "high", "of") if any(getattr(cell, part) is not None for cell in cells)]
            fields += [(f"{column}_{part}", column, part) for part in parts]
            fields += [(f"{column}_text", column, "text")] if numeric else []
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{self.name}.csv"
        with target.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([head for head, _, _ in fields])
            for row in self.rows:
                writer.writerow([_plain(getattr(row[column], part)) for _, column, part in fields])
        return target


def _is(cell: Cell, wanted: object) -> bool:
    if isinstance(wanted, int | float):
        return cell.value == wanted
    return cell.text == wanted


def _plain(value: object) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def markdown_tables(text: str) -> list[list[list[str]]]:
    """The Markdown tables of a text: of each its head, then its rows."""
    found: list[list[list[str]]] = []
    inside = False
    for line in text.splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        if not inside:
            found.append([])
        inside = True
        if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            found[-1].append(cells)
    return found


def _nth_table(text: str, place: int) -> list[list[str]]:
    found = markdown_tables(text)
    return found[place - 1] if place <= len(found) else []


def read_table(name: str, where: Mapping[str, object], root: Path = ROOT) -> Table:
    """The table that an entry of `tables.toml` describes."""
    page = str(where["page"])
    text = (root / page).read_text(encoding="utf-8")
    if "mark" in where:
        text = _between(text, str(where["mark"]), page)
    if "after" in where:
        _, found, text = text.partition(str(where["after"]))
        if not found:
            raise TableError(f"{page} has no line '{where['after']}', which the table {name} follows")
    head, *body = _nth_table(text, int(str(where.get("nth", 1)))) or [[]]
    named = where.get("columns", head)
    columns = tuple(str(one) for one in named) if isinstance(named, list) else tuple(head)
    if len(columns) != len(head):
        raise TableError(f"{name} ({page}) has {len(head)} columns, and tables.toml names {len(columns)}: {head}")
    rows = [dict(zip(columns, map(read_cell, line), strict=True)) for line in body]
    if not rows:
        raise TableError(f"{name} ({page}) has no rows")
    return Table(name, page, columns, tuple(rows))


def _between(text: str, mark: str, page: str) -> str:
    found = re.search(rf"<!-- {re.escape(mark)}: begin -->(.*?)<!-- {re.escape(mark)}: end -->", text, re.DOTALL)
    if found is None:
        raise TableError(f"{page} has no place marked '{mark}'")
    return found[1]


def read_tables(root: Path = ROOT, sources: Path = SOURCES) -> dict[str, Table]:
    """Every table that the paper uses."""
    entries = tomllib.loads(sources.read_text(encoding="utf-8"))
    return {name: read_table(name, where, root) for name, where in entries.items()}


def write_tables(tables: Mapping[str, Table], folder: Path) -> list[Path]:
    """All tables as CSV, for the claims checker; files that are no longer made are removed."""
    written = [table.write_csv(folder) for table in tables.values()]
    for path in folder.glob("*.csv"):
        if path not in written:
            path.unlink()
    return written
