"""Refuse compressed Arrow files: an uncompressed one needs as much memory as it has bytes, a compressed one any amount.

Arrow's writers do not compress by default, and neither do the Hub's data sets. The header of every batch, a flatbuffer,
states its compression.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

from convergebench.errors import StudyError

MAGIC = b"ARROW1"
_DICTIONARY, _BATCH = 2, 3
"""Types of messages that hold data."""


def require_uncompressed(path: Path) -> None:
    """Raise `StudyError` if any batch of the file is compressed or the file cannot be parsed."""
    try:
        with path.open("rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        compressed = any(_is_compressed(data, offset) for offset in _messages(data))
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, OverflowError, struct.error) as error:
        raise StudyError(f"{path} is not a readable Arrow file ({error})") from error
    if compressed:
        raise StudyError(f"{path} is compressed and may unpack to any size; rewrite it without compression")


def _messages(data: memoryview) -> Iterator[int]:
    """Offset of each message header: from the footer of a file, or by walking a stream."""
    if bytes(data[: len(MAGIC)]) == MAGIC:
        yield from _from_footer(data)
        return
    offset = 0
    while offset + 8 <= len(data):
        (marker, size) = struct.unpack_from("<Ii", data, offset)
        start = offset + 8 if marker == 0xFFFFFFFF else offset + 4  # files from before 2019 have no continuation marker
        size = size if marker == 0xFFFFFFFF else marker
        if size <= 0:
            return
        yield start
        body = _field(data, _table(data, start), 3)
        offset = start + size + (struct.unpack_from("<q", data, body)[0] if body else 0)
        if offset <= start:
            raise ValueError("a message of a negative size")


def _from_footer(data: memoryview) -> Iterator[int]:
    (size,) = struct.unpack_from("<i", data, len(data) - len(MAGIC) - 4)
    footer = _table(data, len(data) - len(MAGIC) - 4 - size)
    for number in (2, 3):  # dictionaries, batches
        vector = _field(data, footer, number)
        if vector is None:
            continue
        vector += struct.unpack_from("<I", data, vector)[0]
        (count,) = struct.unpack_from("<I", data, vector)
        for index in range(count):
            (offset,) = struct.unpack_from("<q", data, vector + 4 + 24 * index)
            (marker,) = struct.unpack_from("<I", data, offset)
            yield offset + (8 if marker == 0xFFFFFFFF else 4)


def _is_compressed(data: memoryview, start: int) -> bool:
    message = _table(data, start)
    kind, header = _field(data, message, 1), _field(data, message, 2)
    if kind is None or header is None or data[kind] not in (_DICTIONARY, _BATCH):
        return False
    batch = header + struct.unpack_from("<I", data, header)[0]
    if data[kind] == _DICTIONARY:
        records = _field(data, batch, 1)
        if records is None:
            return False
        batch = records + struct.unpack_from("<I", data, records)[0]
    return _field(data, batch, 3) is not None


def _table(data: memoryview, start: int) -> int:
    """Offset of a flatbuffer's root table."""
    if start < 0:
        raise ValueError("it begins before the file")
    return int(start + struct.unpack_from("<I", data, start)[0])


def _field(data: memoryview, table: int, number: int) -> int | None:
    """Offset of a table's field; None if it is absent."""
    entries = table - struct.unpack_from("<i", data, table)[0]
    if entries < 0 or 4 + 2 * number >= struct.unpack_from("<H", data, entries)[0]:
        return None
    (offset,) = struct.unpack_from("<H", data, entries + 4 + 2 * number)
    return table + offset if offset else None
