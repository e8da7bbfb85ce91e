"""Tables of others that polars cannot read: every failure as one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from convergebench.errors import StudyError

LONGEST = 120
"""Most characters of polars' own words."""


@contextmanager
def table_errors(path: Path) -> Iterator[None]:
    """Turn what polars raises on a damaged table into `StudyError`; some damage makes it panic, a BaseException."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError, MemoryError) as error:
        raise StudyError(f"{path} is not a readable {_kind(path)} file ({_brief(error)})") from error
    except BaseException as error:
        if not is_panic(error):
            raise
        raise StudyError(f"{path} is not a readable {_kind(path)} file (it is damaged)") from error


def is_panic(error: BaseException) -> bool:
    """Whether polars gave up in its own code."""
    return "Panic" in type(error).__name__


def _kind(path: Path) -> str:
    return {".parquet": "Parquet", ".arrow": "Arrow", ".csv": "CSV"}.get(path.suffix, "table")


def _brief(error: BaseException) -> str:
    return " ".join(str(error).split())[:LONGEST] or type(error).__name__
