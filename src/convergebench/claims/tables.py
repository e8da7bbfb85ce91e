"""Where tables come from: the papers', files beside a claim file, and the folders of runs.

The tables of a paper, and a file that the claim names itself, are what the claim was written against: a column or row
that is not there is a slip of the pen and an error. The table of a run may be another one every time: what is not
there makes the claim one that cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench.claims.operand import Condition, Rows, Scalar
from convergebench.errors import StudyError
from convergebench.registry import suggest
from convergebench.sheets import unguarded_frame

if TYPE_CHECKING:
    import polars as pl

PAPERS = Path(__file__).parent / "data" / "tables"
ENDINGS = (".parquet", ".csv")
MOST_ROWS = 1_000_000
"""Of a table; each becomes an object, and a kilobyte of Parquet can hold twenty million."""

Row = Mapping[str, object]


class Missing(Exception):
    """A table, row or value is not there, so nothing can be told; the message says which."""


@dataclass(frozen=True)
class Table:
    """Rows under named columns. `fixed`: what is not there is a mistake in the claim."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    fixed: bool

    def fault(self, message: str) -> Exception:
        """To be raised for what is not there."""
        return StudyError(message) if self.fixed else Missing(message)

    def must_have(self, columns: Iterable[str]) -> None:
        """Every one of these columns, or the fault."""
        for column in columns:
            if column not in self.columns:
                near = suggest(column, self.columns) or f" (there are {', '.join(self.columns)})"
                raise self.fault(f"{self.name} has no column '{column}'{near}")

    def choose(self, rows: Rows) -> tuple[Row, ...]:
        """The rows that meet every condition; none at all is a fault."""
        found = self.meeting(rows)
        if not found:
            raise self.fault(f"{self.name} has no row{_said(rows)}")
        return found

    def meeting(self, rows: Rows) -> tuple[Row, ...]:
        """The same, where none at all is an answer too: to how many there are."""
        self.must_have(rows)
        return tuple(row for row in self.rows if self._meets(row, rows))

    def one(self, row: Mapping[str, Scalar], among: Iterable[Row] | None = None) -> Row:
        """The one row that has these values."""
        self.must_have(row)
        wanted = {column: Condition(one_of=(value,)) for column, value in row.items()}
        rows = self.rows if among is None else tuple(among)
        found = [one for one in rows if self._meets(one, wanted)]
        if len(found) == 1:
            return found[0]
        number = f"{len(found)} rows" if found else "no row"
        known = sorted({str(one[column]) for column in row for one in rows if one[column] is not None})
        near = "" if found else suggest(str(next(iter(row.values()), "")), known)
        raise self.fault(f"{self.name} has {number}{_said(wanted)}{near or ('; say more of it' if found else '')}")

    def _meets(self, row: Row, wanted: Rows) -> bool:
        """One condition that fails decides, whatever cannot be told of the others."""
        missing: Missing | None = None
        for column, condition in wanted.items():
            try:
                if not self._fits(row[column], condition, column):
                    return False
            except Missing as error:
                missing = error
        if missing is not None:
            raise missing
        return True

    def _fits(self, cell: object, condition: Condition, column: str) -> bool:
        """An empty cell is no word; whether it is a number or a yes cannot be told."""
        if condition.known is not None and condition.known != (cell is not None):
            return False
        bounds = (condition.above, condition.below, condition.at_least, condition.at_most)
        listed = [*(condition.one_of or ()), *(condition.none_of or ())]
        if cell is None:
            if any(bound is not None for bound in bounds) or any(not isinstance(value, str) for value in listed):
                raise Missing(f"{self.name} has a row without a value of '{column}'")
            return condition.one_of is None
        if condition.one_of is not None and not any(alike(cell, value) for value in condition.one_of):
            return False
        if condition.none_of is not None and any(alike(cell, value) for value in condition.none_of):
            return False
        if all(bound is None for bound in bounds):
            return True
        value = number(cell, f"'{column}' in {self.name}")
        above, below, least, most = bounds
        return (
            (above is None or value > above)
            and (below is None or value < below)
            and (least is None or value >= least)
            and (most is None or value <= most)
        )


def number(cell: object, what: str) -> float:
    """The cell as a number; yes is 1."""
    if cell is None:
        raise Missing(f"{what} has no value")
    if isinstance(cell, bool | int | float):
        return float(cell)
    raise Missing(f"{what} is '{cell}', which is no number")


def alike(cell: object, value: object) -> bool:
    """Equal, and of one kind: 1 is neither true nor '1'."""
    kinds = [bool if isinstance(one, bool) else float if isinstance(one, int | float) else str for one in (cell, value)]
    return kinds[0] is kinds[1] and (str(cell) == str(value) if kinds[0] is str else cell == value)


class Tables:
    """Every table that a claim may name, read once."""

    def __init__(self, *, papers: Path = PAPERS, beside: Path | None = None, run: Path | None = None) -> None:
        self.papers, self.beside, self.run = papers, beside, run
        self._kept: dict[str, Table] = {}

    def table(self, address: str) -> Table:
        """The table behind an address. Where the run holds a table of a paper's name, the run's is taken."""
        if address not in self._kept:
            self._kept[address] = self._read(address)
        return self._kept[address]

    def in_run(self, address: str) -> bool:
        """Whether the run holds it."""
        return self._find(address) is not None

    def _read(self, address: str) -> Table:
        source, _, name = address.partition(":")
        found = self._find(address)
        if found is not None:
            return _table(address, found, fixed=False)
        if source == "paper":
            known = sorted(path.stem for path in self.papers.glob("*.csv"))
            if name not in known:
                near = suggest(name, known) or f" (there are {', '.join(known)})"
                raise StudyError(f"no paper's table is called '{name}'{near}")
            return _table(address, self.papers / f"{name}.csv", fixed=True)
        if source == "file":
            path = (self.beside or Path()) / name
            if path.suffix not in ENDINGS or not path.is_file():
                raise StudyError(f"there is no table {path} (a .csv or .parquet file beside the claim file)")
            return _table(address, path, fixed=True)
        if self.run is None:
            raise Missing(f"{address} is the table of a run, and no run was given")
        make = "audit" if source == "audit" else "report"
        raise Missing(f"{self.run} has no table '{name}' (cbench {make} {self.run})")

    def _find(self, address: str) -> Path | None:
        source, _, name = address.partition(":")
        if self.run is None or source == "file":
            return None
        for folder in folders(self.run, audit=source == "audit"):
            for ending in ENDINGS:
                if (folder / f"{name}{ending}").is_file():
                    return folder / f"{name}{ending}"
        return None


def folders(run: Path, *, audit: bool) -> list[Path]:
    """Where a run's own tables may lie, or its audit's: both have a `failures`, and neither stands for the other.

    The folder of an audit may be named instead of its run; the tables in it are the audit's.
    """
    alone = (run / "audit.json").is_file()
    if audit:
        return [run / "audit" / "tables", *([run / "tables"] if alone else []), run]
    return [run] if alone else [run / "tables", run]


def check_run(run: Path) -> None:
    """A folder with at least one table in it, or an error that says how to get one."""
    if not run.is_dir():
        raise StudyError(f"there is no folder {run}")
    places = [*folders(run, audit=False), *folders(run, audit=True)]
    if not any(path.suffix in ENDINGS for folder in places for path in folder.glob("*")):
        raise StudyError(f"{run} has no tables; write them with: cbench report {run}")


def _table(address: str, path: Path, *, fixed: bool) -> Table:
    import polars as pl
    import polars.selectors as cs

    try:
        frame = _read_csv(path) if path.suffix == ".csv" else _read_parquet(path)
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise StudyError(f"cannot read the table {path}: {' '.join(str(error).split())[:120]}") from error
    if frame.height > MOST_ROWS:
        raise StudyError(f"{path} has {frame.height:,} rows; a claim is checked on at most {MOST_ROWS:,}")
    frame = frame.with_columns(cs.float().fill_nan(None))
    return Table(address, tuple(frame.columns), tuple(frame.iter_rows(named=True)), fixed)


def _read_parquet(path: Path) -> pl.DataFrame:
    """A run may have come by mail, and a kilobyte of Parquet can hold gigabytes."""
    import polars as pl

    from convergebench.images.cells import require_small
    from convergebench.images.parquet_bounds import require_bearable

    require_bearable(path)
    return require_small(pl.read_parquet(path), str(path))


def _read_csv(path: Path) -> pl.DataFrame:
    """Every row decides the type of its column, or a late word among numbers would be lost.

    A column of numbers in which one is infinite would be taken for words.
    """
    import polars as pl

    frame = pl.read_csv(path, infer_schema_length=None)
    for name in frame.select(pl.selectors.string()).columns:
        numbers = frame[name].cast(pl.Float64, strict=False)
        if numbers.is_finite().any() and numbers.null_count() == frame[name].null_count():
            frame = frame.with_columns(numbers)
    return unguarded_frame(frame)


def _said(rows: Rows) -> str:
    """The conditions, as words behind `row`."""
    words = []
    for column, condition in rows.items():
        for name, value in condition.model_dump(exclude_none=True).items():
            relation = {"one_of": "=", "none_of": "not"}.get(name, name.replace("_", " "))
            listed = value if isinstance(value, tuple) else (value,)
            words.append(f"{column} {relation} {' or '.join(str(one) for one in listed)}")
    return f" with {', '.join(words)}" if words else ""
