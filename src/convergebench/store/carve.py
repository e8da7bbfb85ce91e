"""Rows out of the bytes of a database that SQLite itself can no longer read.

A table of a run is a tree of pages. Where an inner page is damaged, SQLite cannot find the intact pages below it; here
every page is read on its own, those in the write-ahead log included. A page does not name its table: the caller has to
recognise its rows.
See https://www.sqlite.org/fileformat2.html for the layout.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from convergebench.store.columns import Values

_PAGE_KINDS = {0x0A: 8, 0x02: 12}
"""Pages of trees without row numbers, leaf and inner, with the size of their heading."""
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_WAL_HEADING, _FRAME_HEADING = 32, 24


def carve(database: Path) -> Iterator[Values]:
    """Every record that can be read, the newest pages first; text that is not UTF-8 is decoded with surrogates."""
    data = _bytes(database)
    size = _page_size(data)
    pages = {number: data[(number - 1) * size : number * size] for number in range(1, len(data) // size + 1)}
    log = list(_logged(_bytes(database.with_name(f"{database.name}-wal")), size))
    newest = {**pages, **dict(log)}
    for page in [*(page for _, page in reversed(log)), *pages.values()]:
        yield from _records(page, newest, size)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _page_size(data: bytes) -> int:
    """From the file header; SQLite's default of 4096 if the header is damaged."""
    (stated,) = struct.unpack_from(">H", data, 16) if len(data) >= 18 else (0,)
    size = 65536 if stated == 1 else stated
    return size if 512 <= size <= 65536 and size & (size - 1) == 0 else 4096


def _logged(log: bytes, size: int) -> Iterator[tuple[int, bytes]]:
    """(number, page) of every frame of the write-ahead log, oldest first, up to leftovers of an earlier log."""
    if len(log) < _WAL_HEADING:
        return
    salt = log[16:24]
    for start in range(_WAL_HEADING, len(log) - _FRAME_HEADING - size + 1, _FRAME_HEADING + size):
        if log[start + 8 : start + 16] != salt:
            return
        (number,) = struct.unpack_from(">I", log, start)
        yield number, log[start + _FRAME_HEADING : start + _FRAME_HEADING + size]


def _records(page: bytes, pages: dict[int, bytes], size: int) -> Iterator[Values]:
    heading = _PAGE_KINDS.get(page[0]) if page else None
    if heading is None:
        return
    (count,) = struct.unpack_from(">H", page, 3)
    for index in range(min(count, size // 2)):
        place = heading + 2 * index
        if place + 2 > len(page):
            return
        (offset,) = struct.unpack_from(">H", page, place)
        try:
            payload = _payload(page, offset + (4 if heading == 12 else 0), pages, size)
            yield _decoded(payload)
        except (IndexError, ValueError, struct.error):  # this cell is damaged, the next may not be
            continue


def _payload(page: bytes, offset: int, pages: dict[int, bytes], size: int) -> bytes:
    """A cell's bytes with what overflowed onto other pages."""
    length, offset = _varint(page, offset)
    if not 0 < length <= size * len(pages):
        raise ValueError("no length")
    most, least = (size - 12) * 64 // 255 - 23, (size - 12) * 32 // 255 - 23
    local = length
    if length > most:
        fitting = least + (length - least) % (size - 4)
        local = fitting if fitting <= most else least
    parts = [page[offset : offset + local]]
    missing = length - len(parts[0])
    if missing and local == length:
        raise ValueError("the page ends before the cell")
    following = struct.unpack_from(">I", page, offset + local)[0] if missing else 0
    seen: set[int] = set()
    while missing > 0:
        over = pages.get(following, b"")
        if len(over) < 5 or following in seen:
            raise ValueError("a page of the cell is missing, or leads back to one before it")
        seen.add(following)
        parts.append(over[4 : 4 + min(missing, size - 4)])
        missing -= len(parts[-1])
        (following,) = struct.unpack_from(">I", over, 0)
    return b"".join(parts)


def _decoded(payload: bytes) -> Values:
    end, place = _varint(payload, 0)
    if not 0 < end <= len(payload):
        raise ValueError("no heading")
    kinds = []
    while place < end:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    values = []
    for kind in kinds:
        value, place = _value(payload, place, kind)
        values.append(value)
    return tuple(values)


def _value(payload: bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind == 0:
        return None, place
    if kind in (8, 9):
        return kind - 8, place
    if kind in (10, 11):
        raise ValueError("no such kind")
    width = _INTEGERS.get(kind) or (8 if kind == 7 else (kind - 12) // 2)
    data = payload[place : place + width]
    if len(data) != width:
        raise ValueError("cut short")
    if kind == 7:
        return struct.unpack(">d", data)[0], place + width
    if kind < 7:
        return int.from_bytes(data, "big", signed=True), place + width
    return (data.decode("utf-8", "surrogateescape") if kind % 2 else data), place + width


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for count in range(9):
        byte = data[place + count]
        if count == 8:
            return (value << 8) | byte, place + 9
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, place + count + 1
    raise ValueError("no number")
