"""CSV files that are safe to open in a spreadsheet: no text becomes a formula or a row of its own.

Every CSV file of the project is written here, and those that people fill in are read here. A text that a spreadsheet
would evaluate gets a leading apostrophe, numbers stay as they are, and a cell with a comma, a quote or a line break is
quoted.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from convergebench.errors import StudyError

if TYPE_CHECKING:
    import polars as pl

FORMULA = r"'*[=+\-@\t\r\n＝＋－＠]"
"""Start of a text that a spreadsheet would evaluate, with any apostrophes before it."""
_FORMULA, _GUARDED = re.compile(FORMULA), re.compile("'" + FORMULA)
_QUOTED = re.compile('[,"\r\n]')


def guarded(cell: Any) -> Any:
    """The cell, with an apostrophe before a text that looks like a formula."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """The inverse of `guarded`."""
    return cell[1:] if _GUARDED.match(cell) else cell


def csv_line(cells: Iterable[Any]) -> str:
    """One line of a CSV file; None is an empty cell."""
    # Python's csv writer leaves a lone carriage return unquoted, and readers then see two rows
    texts = ["" if cell is None else _encodable(str(guarded(cell))) for cell in cells]
    line = ",".join(f'"{text.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(text) else text for text in texts)
    return (line or '""') + "\n"


def _encodable(text: str) -> str:
    """With lone surrogates escaped; they come from file names that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def read_csv(path: Path) -> tuple[list[str], list[list[str]]]:
    """The columns of a CSV file that somebody filled in, and its lines below them; `StudyError` if it is none."""
    try:
        # read as text, a lone carriage return in a name would become a line feed
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path} is not a CSV file in UTF-8: {error}") from error
    heading = [cell.strip() for cell in lines[0]] if lines else []
    if len(heading) == 1 and ";" in heading[0]:
        raise StudyError(f"{path} uses semicolons between columns; save it as CSV with commas")
    return heading, lines[1:]


class Sheet:
    """Writes rows under these columns into a text file that was opened with `newline=""`."""

    def __init__(self, file: IO[str], columns: Sequence[str]) -> None:
        self._file, self._columns = file, tuple(columns)
        file.write(csv_line(self._columns))

    def row(self, values: Mapping[str, Any]) -> None:
        """Write one row; a missing value is an empty cell, a value without a column a `ValueError`."""
        unknown = values.keys() - set(self._columns)
        if unknown:
            raise ValueError(f"no column for {', '.join(sorted(unknown))}")
        self._file.write(csv_line(values.get(column) for column in self._columns))


def as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A whole file as text."""
    return csv_line(columns) + "".join(csv_line(row.get(column) for column in columns) for row in rows)


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Write a table as a CSV file; a missing value is an empty cell."""
    import polars as pl
    import polars.selectors as cs

    texts = (cs.string() | cs.categorical() | cs.by_dtype(pl.Enum)).as_expr().cast(pl.String)
    marked = frame.with_columns(texts.str.replace(f"^({FORMULA})", "'${1}"))
    marked.rename({name: str(guarded(name)) for name in frame.columns}).write_csv(path)


def unguarded_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """The inverse of `write_frame`'s guarding, for a table read from CSV."""
    import polars as pl

    return frame.with_columns(pl.col(pl.String).str.replace(f"^'({FORMULA})", "${1}"))
