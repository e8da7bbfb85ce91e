"""The tables that claims use: the papers', files beside a claim file, and those of runs.

A claim was written for the tables of its paper and the files it names: a missing column or row is an error in the
claim. The tables of runs differ: if something is missing there, the verdict is "cannot be told".
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
"""Most rows of a table: each becomes an object, and a kilobyte of Parquet can hold twenty million."""

Row = Mapping[str, object]


class MissingValue(Exception):
    """A table, row or value does not exist, so there is no verdict; the message says which."""


@dataclass(frozen=True)
class ClaimTable:
    """Rows with named columns. `fixed`: anything missing is an error in the claim."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    fixed: bool

    def missing(self, message: str) -> Exception:
        """The error to raise if something is missing."""
        return StudyError(message) if self.fixed else MissingValue(message)

    def require_columns(self, columns: Iterable[str]) -> None:
        """Raise unless the table has all of these columns."""
        for column in columns:
            if column not in self.columns:
                hint = suggest(column, self.columns) or f" (there are {', '.join(self.columns)})"
                raise self.missing(f"{self.name} has no column '{column}'{hint}")

    def select(self, rows: Rows) -> tuple[Row, ...]:
        """The rows that meet every condition; raises if there are none."""
        found = self.matching(rows)
        if not found:
            raise self.missing(f"{self.name} has no row{_described(rows)}")
        return found

    def matching(self, rows: Rows) -> tuple[Row, ...]:
        """The rows that meet every condition, possibly none."""
        self.require_columns(rows)
        return tuple(row for row in self.rows if self._meets(row, rows))

    def one(self, row: Mapping[str, Scalar], among: Iterable[Row] | None = None) -> Row:
        """The only row with these values; raises if there are none or several."""
        self.require_columns(row)
        conditions = {column: Condition(one_of=(value,)) for column, value in row.items()}
        rows = self.rows if among is None else tuple(among)
        found = [one for one in rows if self._meets(one, conditions)]
        if len(found) == 1:
            return found[0]
        number = f"{len(found)} rows" if found else "no row"
        known = sorted({str(one[column]) for column in row for one in rows if one[column] is not None})
        hint = "; give more of it" if found else suggest(str(next(iter(row.values()), "")), known)
        raise self.missing(f"{self.name} has {number}{_described(conditions)}{hint}")

    def _meets(self, row: Row, conditions: Rows) -> bool:
        """False if any condition fails, even if others cannot be decided."""
        missing: MissingValue | None = None
        for column, condition in conditions.items():
            try:
                if not self._fits(row[column], condition, column):
                    return False
            except MissingValue as error:
                missing = error
        if missing is not None:
            raise missing
        return True

    def _fits(self, cell: object, condition: Condition, column: str) -> bool:
        """An empty cell equals no word; against a number or boolean it cannot be decided."""
        if condition.known is not None and condition.known != (cell is not None):
            return False
        bounds = (condition.above, condition.below, condition.at_least, condition.at_most)
        listed = [*(condition.one_of or ()), *(condition.none_of or ())]
        if cell is None:
            if any(bound is not None for bound in bounds) or any(not isinstance(value, str) for value in listed):
                raise MissingValue(f"{self.name} has a row without a value of '{column}'")
            return condition.one_of is None
        if condition.one_of is not None and not any(same_value(cell, value) for value in condition.one_of):
            return False
        if condition.none_of is not None and any(same_value(cell, value) for value in condition.none_of):
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
    """The cell as a number; true is 1."""
    if cell is None:
        raise MissingValue(f"{what} has no value")
    if isinstance(cell, bool | int | float):
        return float(cell)
    raise MissingValue(f"{what} is '{cell}', which is not a number")


def same_value(cell: object, value: object) -> bool:
    """Whether both are equal and of the same type: 1 is neither true nor '1'."""
    kinds = [bool if isinstance(one, bool) else float if isinstance(one, int | float) else str for one in (cell, value)]
    return kinds[0] is kinds[1] and (str(cell) == str(value) if kinds[0] is str else cell == value)


class ClaimTables:
    """All tables that a claim can use, each read once."""

    def __init__(self, *, papers: Path = PAPERS, claim_folder: Path | None = None, run: Path | None = None) -> None:
        self.papers, self.claim_folder, self.run = papers, claim_folder, run
        self._kept: dict[str, ClaimTable] = {}

    def table(self, address: str) -> ClaimTable:
        """The table at an address; a run's table takes precedence over the paper's of the same name."""
        if address not in self._kept:
            self._kept[address] = self._read(address)
        return self._kept[address]

    def in_run(self, address: str) -> bool:
        """Whether the run has this table."""
        return self._find(address) is not None

    def _read(self, address: str) -> ClaimTable:
        source, _, name = address.partition(":")
        found = self._find(address)
        if found is not None:
            return _table(address, found, fixed=False)
        if source == "paper":
            known = sorted(path.stem for path in self.papers.glob("*.csv"))
            if name not in known:
                hint = suggest(name, known) or f" (there are {', '.join(known)})"
                raise StudyError(f"no table of a paper is called '{name}'{hint}")
            return _table(address, self.papers / f"{name}.csv", fixed=True)
        if source == "file":
            path = (self.claim_folder or Path()) / name
            if path.suffix not in ENDINGS or not path.is_file():
                raise StudyError(f"there is no table {path} (a .csv or .parquet file beside the claim file)")
            return _table(address, path, fixed=True)
        if self.run is None:
            raise MissingValue(f"{address} is the table of a run, but no run was given")
        make = "audit" if source == "audit" else "report"
        raise MissingValue(f"{self.run} has no table '{name}' (cbench {make} {self.run})")

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
    """Folders that may hold a run's tables, or its audit's; both have a `failures` table, with different content.

    `run` may also be the folder of an audit; its tables are the audit's.
    """
    alone = (run / "audit.json").is_file()
    if audit:
        return [run / "audit" / "tables", *([run / "tables"] if alone else []), run]
    return [run] if alone else [run / "tables", run]


def check_run(run: Path) -> None:
    """`StudyError` unless the folder has at least one table."""
    if not run.is_dir():
        raise StudyError(f"there is no folder {run}")
    places = [*folders(run, audit=False), *folders(run, audit=True)]
    if not any(path.suffix in ENDINGS for folder in places for path in folder.glob("*")):
        raise StudyError(f"{run} has no tables; write them with: cbench report {run}")


def _table(address: str, path: Path, *, fixed: bool) -> ClaimTable:
    import polars.selectors as cs

    from convergebench.images.table_errors import table_errors

    with table_errors(path):
        frame = _read_csv(path) if path.suffix == ".csv" else _read_parquet(path)
    if frame.height > MOST_ROWS:
        raise StudyError(f"{path} has {frame.height:,} rows; a claim is checked on at most {MOST_ROWS:,}")
    frame = frame.with_columns(cs.float().fill_nan(None))
    return ClaimTable(address, tuple(frame.columns), tuple(frame.iter_rows(named=True)), fixed)


def _read_parquet(path: Path) -> pl.DataFrame:
    """Read with a size limit: the run may be untrusted, and a kilobyte of Parquet can hold gigabytes."""
    import polars as pl

    from convergebench.images.cells import require_small
    from convergebench.images.parquet_bounds import require_plausible_size

    require_plausible_size(path)
    return require_small(pl.read_parquet(path), str(path))


def _read_csv(path: Path) -> pl.DataFrame:
    """Types are inferred from all rows, or a late word among numbers would be lost.

    polars reads a number column with an infinite value as text; it is converted back.
    """
    import polars as pl

    frame = pl.read_csv(path, infer_schema_length=None)
    for name in frame.select(pl.selectors.string()).columns:
        numbers = frame[name].cast(pl.Float64, strict=False)
        if numbers.is_finite().any() and numbers.null_count() == frame[name].null_count():
            frame = frame.with_columns(numbers)
    return unguarded_frame(frame)


def _described(rows: Rows) -> str:
    """The conditions as text for an error message."""
    words = []
    for column, condition in rows.items():
        for name, value in condition.model_dump(exclude_none=True).items():
            relation = {"one_of": "=", "none_of": "not"}.get(name, name.replace("_", " "))
            listed = value if isinstance(value, tuple) else (value,)
            words.append(f"{column} {relation} {' or '.join(str(one) for one in listed)}")
    return f" with {', '.join(words)}" if words else ""
