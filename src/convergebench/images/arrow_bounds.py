"""Whether an Arrow file is packed. One that is not takes as much memory as it has bytes; one that is, any amount.

Arrow's own writers pack only when they are told to, and the data sets of the Hub are not packed, so packed ones are
refused. What says so stands in the header of every batch, a flatbuffer.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

from convergebench.errors import StudyError

MAGIC = b"ARROW1"
_DICTIONARY, _BATCH = 2, 3
"""Kinds of messages that hold data."""


def require_unpacked(path: Path) -> None:
    """`StudyError` if any batch of the file is packed, or if its batches cannot be found."""
    try:
        with path.open("rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        packed = any(_is_packed(data, place) for place in _messages(data))
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, LookupError, OverflowError, struct.error) as error:
        raise StudyError(f"{path} is not a readable Arrow file ({error})") from error
    if packed:
        raise StudyError(f"{path} is packed, and may unpack to any size; write it anew without compression")


def _messages(data: memoryview) -> Iterator[int]:
    """Where the header of each message begins: by the footer of a file, else one after the other."""
    if bytes(data[: len(MAGIC)]) == MAGIC:
        yield from _listed(data)
        return
    place = 0
    while place + 8 <= len(data):
        (mark, size) = struct.unpack_from("<Ii", data, place)
        start = place + 8 if mark == 0xFFFFFFFF else place + 4  # files of before 2019 have no mark
        size = size if mark == 0xFFFFFFFF else mark
        if size <= 0:
            return
        yield start
        body = _field(data, _table(data, start), 3)
        place = start + size + (struct.unpack_from("<q", data, body)[0] if body else 0)
        if place <= start:
            raise ValueError("a message of a negative size")


def _listed(data: memoryview) -> Iterator[int]:
    (size,) = struct.unpack_from("<i", data, len(data) - len(MAGIC) - 4)
    footer = _table(data, len(data) - len(MAGIC) - 4 - size)
    for number in (2, 3):  # dictionaries, batches
        place = _field(data, footer, number)
        if place is None:
            continue
        place += struct.unpack_from("<I", data, place)[0]
        (count,) = struct.unpack_from("<I", data, place)
        for index in range(count):
            (offset,) = struct.unpack_from("<q", data, place + 4 + 24 * index)
            (mark,) = struct.unpack_from("<I", data, offset)
            yield offset + (8 if mark == 0xFFFFFFFF else 4)


def _is_packed(data: memoryview, start: int) -> bool:
    message = _table(data, start)
    kind, header = _field(data, message, 1), _field(data, message, 2)
    if kind is None or header is None or data[kind] not in (_DICTIONARY, _BATCH):
        return False
    batch = header + struct.unpack_from("<I", data, header)[0]
    if data[kind] == _DICTIONARY:
        inside = _field(data, batch, 1)
        if inside is None:
            return False
        batch = inside + struct.unpack_from("<I", data, inside)[0]
    return _field(data, batch, 3) is not None


def _table(data: memoryview, start: int) -> int:
    """Where the root table of a flatbuffer is."""
    if start < 0:
        raise ValueError("it begins before the file")
    return int(start + struct.unpack_from("<I", data, start)[0])


def _field(data: memoryview, table: int, number: int) -> int | None:
    """Where a field of a table stands; None if it is left out."""
    entries = table - struct.unpack_from("<i", data, table)[0]
    if entries < 0 or 4 + 2 * number >= struct.unpack_from("<H", data, entries)[0]:
        return None
    (offset,) = struct.unpack_from("<H", data, entries + 4 + 2 * number)
    return table + offset if offset else None
