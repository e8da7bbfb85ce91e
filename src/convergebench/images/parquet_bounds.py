"""How much a Parquet file would unpack to, told before it is read: a kilobyte can hold ten gigabytes of zeros.

Readers make room for what the header of each page says, so every header is looked at, not only the footer's sums.
"""

from __future__ import annotations

import mmap
import struct
from collections import Counter
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from convergebench.errors import StudyError
from convergebench.images.thrift import Reader, Table, Unreadable

SMALL = 512 << 20
"""Bytes that columns may unpack to in any case."""
RATIO = 8
"""Beyond that, so many times its packed size: images are packed already, and long texts do not shrink more."""
MOST_VALUES = 20_000_000
"""Of one column; empty ones take no room in a file and much in memory."""
MOST_PAGES = 1_000_000
MAGIC = b"PAR1"
_SHARED_PREFIXES = 7
"""The encoding (DELTA_BYTE_ARRAY) by which a page of a kilobyte can hold a long text a million times over."""


class Chunk(NamedTuple):
    """One column of one group of rows."""

    column: str
    packed: int
    unpacked: int
    values: int
    prefixed: bool
    """Whether values may share their beginnings."""


def require_bearable(path: Path, columns: Collection[str] | None = None) -> None:
    """`StudyError` if these columns, or all, would unpack to more than a file of this size has reason to hold."""
    chunks = [one for one in _chunks(path, path.stat().st_mtime_ns) if columns is None or one.column in columns]
    packed, unpacked = sum(one.packed for one in chunks), sum(one.unpacked for one in chunks)
    if unpacked > max(SMALL, RATIO * packed):
        raise StudyError(
            f"{path} unpacks from {packed:,} to {unpacked:,} bytes, far more than such a file holds; get it again "
            "from a source that you trust"
        )
    values: Counter[str] = Counter()
    for chunk in chunks:
        values[chunk.column] += chunk.values
        if chunk.prefixed:
            raise StudyError(f"{path}: column '{chunk.column}' is packed as DELTA_BYTE_ARRAY; write it anew as plain")
        if values[chunk.column] > MOST_VALUES:
            raise StudyError(f"{path}: column '{chunk.column}' has more than {MOST_VALUES:,} values; split the file")


@lru_cache(maxsize=256)
def _chunks(path: Path, stamp: int) -> tuple[Chunk, ...]:
    try:
        with path.open("rb") as file:
            return tuple(_read(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))))
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, struct.error) as error:
        raise StudyError(f"{path} is not a readable Parquet file ({error})") from error


def _read(data: memoryview) -> Iterator[Chunk]:
    if len(data) < 12 or bytes(data[-4:]) != MAGIC:
        raise Unreadable("it does not end as one")
    (length,) = struct.unpack("<I", data[-8:-4])
    footer = Reader(data[: len(data) - 8], len(data) - 8 - length).table()
    widths = _widths(footer[2])
    for group in footer.get(4, []):
        for number, chunk in enumerate(group[1]):
            yield _chunk(data, chunk[3], widths[number] if number < len(widths) else 0)


def _widths(schema: list[Table]) -> list[int]:
    """Bytes of one value, by leaf; 0 where values have lengths of their own or are small."""
    return [element.get(2, 0) if element[1] == 7 else 0 for element in schema if not element.get(5)]


def _chunk(data: memoryview, chunk: dict[int, Any], width: int) -> Chunk:
    name = chunk[3][0].decode("utf-8", "replace")
    start = min(place for place in (chunk[9], chunk.get(11)) if place)
    stop = start + chunk[7]
    unpacked, values, pages, prefixed = 0, 0, 0, _SHARED_PREFIXES in chunk[2]
    while start < stop and values < max(chunk[5], 1):
        pages += 1
        if pages > MOST_PAGES:
            raise Unreadable("more pages than any file has")
        reader = Reader(data, start)
        page = reader.table()
        if page[3] < 0 or page[2] < 0:
            raise Unreadable("a page of a negative size")
        told = page.get(5) or page.get(8) or {}
        prefixed = prefixed or told.get(2 if 5 in page else 4) == _SHARED_PREFIXES
        unpacked += page[2]
        values += told.get(1, 0)
        start = reader.place + page[3]
    values = max(values, chunk[5])
    return Chunk(name, chunk[7], max(unpacked, chunk[6], values * width), values, prefixed)
