"""Limit the size of cells before they become Python objects: a table stores repeated values once, Python does not."""

from __future__ import annotations

import polars as pl

from convergebench.errors import StudyError

LARGEST_TABLE = 1 << 30
"""Most bytes of all cells of a table that is converted to Python rows."""
LARGEST_CELL = 512 << 20
"""Most bytes of one cell."""


def bytes_in(column: pl.Series) -> int:
    """Bytes of all texts and images in a column, repeated values counted each time."""
    kind = column.dtype
    if kind == pl.String:
        return int(column.str.len_bytes().cast(pl.UInt64).sum())
    if kind == pl.Binary:
        return int(column.bin.size().cast(pl.UInt64).sum())
    if isinstance(kind, pl.Struct):
        return sum(bytes_in(column.struct.field(field.name)) for field in kind.fields)
    if isinstance(kind, pl.List | pl.Array):
        inside = column.explode()
        return 8 * len(inside) + bytes_in(inside)
    if isinstance(kind, pl.Categorical | pl.Enum):
        return bytes_in(column.cast(pl.String))
    return 0


def require_small(table: pl.DataFrame, what: str) -> pl.DataFrame:
    """The table; raises `StudyError` if its rows would take too much memory."""
    held = sum(map(bytes_in, table.get_columns()))
    if held > LARGEST_TABLE:
        raise StudyError(
            f"{what} holds {held >> 20:,} MiB of texts, more than the {LARGEST_TABLE >> 20:,} allowed for a list"
        )
    return table


def cell_of(column: pl.Series, row: int, what: str) -> object:
    """One value of a column; raises `StudyError` if it is larger than any image."""
    one = column.slice(row, 1)
    held = bytes_in(one)
    if held > LARGEST_CELL:
        raise StudyError(f"{what} has {held >> 20:,} MiB, more than the {LARGEST_CELL >> 20:,} allowed for an image")
    return one.to_list()[0]
