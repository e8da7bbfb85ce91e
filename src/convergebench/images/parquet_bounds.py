"""Check how large a Parquet file would unpack before reading it: a kilobyte can hold ten gigabytes of zeros.

Readers allocate what the header of each page states, so every page header is checked, not only the footer's sums.
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
from convergebench.images.thrift import ThriftReader, ThriftStruct, Unreadable

SMALL = 512 << 20
"""Bytes that columns may always unpack to."""
RATIO = 8
"""Beyond that, largest ratio of unpacked to packed size: images are compressed already, long texts compress less."""
MOST_VALUES = 20_000_000
"""Most values of one column; empty values take no space in a file and much in memory."""
MOST_PAGES = 1_000_000
MAGIC = b"PAR1"
_SHARED_PREFIXES = 7
"""The encoding DELTA_BYTE_ARRAY, with which a page of a kilobyte can hold a long text a million times."""


class Chunk(NamedTuple):
    """One column of one row group."""

    column: str
    packed: int
    unpacked: int
    values: int
    prefixed: bool
    """Whether values share prefixes."""


def require_plausible_size(path: Path, columns: Collection[str] | None = None) -> None:
    """Raise `StudyError` if these columns (default: all) would unpack to far more than their stored size explains."""
    chunks = [one for one in _chunks(path, path.stat().st_mtime_ns) if columns is None or one.column in columns]
    packed, unpacked = sum(one.packed for one in chunks), sum(one.unpacked for one in chunks)
    if unpacked > max(SMALL, RATIO * packed):
        raise StudyError(
            f"{path} unpacks from {packed:,} to {unpacked:,} bytes, far more than such a file needs; download it "
            f"again from a source that you trust"
        )
    values: Counter[str] = Counter()
    for chunk in chunks:
        values[chunk.column] += chunk.values
        if chunk.prefixed:
            raise StudyError(f"{path}: column '{chunk.column}' is packed as DELTA_BYTE_ARRAY; rewrite it as plain")
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
    footer = ThriftReader(data[: len(data) - 8], len(data) - 8 - length).read_struct()
    widths = _widths(footer[2])
    for group in footer.get(4, []):
        for number, chunk in enumerate(group[1]):
            yield _chunk(data, chunk[3], widths[number] if number < len(widths) else 0)


def _widths(schema: list[ThriftStruct]) -> list[int]:
    """Bytes per value of each leaf column; 0 where values have variable or small size."""
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
        reader = ThriftReader(data, start)
        page = reader.read_struct()
        if page[3] < 0 or page[2] < 0:
            raise Unreadable("a page of a negative size")
        header = page.get(5) or page.get(8) or {}
        prefixed = prefixed or header.get(2 if 5 in page else 4) == _SHARED_PREFIXES
        unpacked += page[2]
        values += header.get(1, 0)
        start = reader.position + page[3]
    values = max(values, chunk[5])
    return Chunk(name, chunk[7], max(unpacked, chunk[6], values * width), values, prefixed)
