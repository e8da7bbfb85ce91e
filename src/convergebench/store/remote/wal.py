"""What was committed since the last look: the pages of the journal that changed, out of SQLite's write-ahead log.

The log of a run with a store is never reset behind our back: automatic checkpoints are off, and a checkpoint is made
only here, after everything in the log was taken over. Between two checkpoints the database file itself does not change
and the log only grows. So a copy of the database file, with the pages of the log from its beginning, is the journal at
the moment of the last commit in it. All methods run in the writer's thread, between transactions.

If another program resets the log all the same (somebody opened the journal with a tool), it first moves the log into
the database file, which is seen by that file's time and size: what was taken over then begins anew.
"""

from __future__ import annotations

import sqlite3
import struct
import time
from pathlib import Path
from typing import BinaryIO, NamedTuple

HEADER, FRAME = 32, 24
AUTOMATIC = "pragma wal_autocheckpoint = 0"
LARGE = 4_000_000
"""Bytes of the log after which it is moved into the database file, as SQLite does by itself elsewhere."""
TICK = 20_000_000
"""Nanoseconds within which two changes of a file may get the same time."""
_CHECKPOINT = "pragma wal_checkpoint(truncate)"
_MAGIC = b"CBP1"
_HEAD = struct.Struct(">4sIII")


class LogReplaced(Exception):
    """The log was reset by another program: what was taken over so far does not lead to what is there now."""


class _Committed(NamedTuple):
    end: int
    """Where the last transaction ends that was committed; what follows it was rolled back."""
    pages: int
    """Of the database, after that transaction."""
    places: dict[int, int]
    """Page → where its newest content is in the log."""


class LogTail:
    """The end of the log of one database."""

    def __init__(self, database: Path) -> None:
        self._database, self._path = database, database.with_name(f"{database.name}-wal")
        self._unchanged: tuple[int, int] = (0, 0)
        """Time and size of the database file, to which the log is to be added."""
        self._salt = b""
        self._end = 0
        self._may_restart = True

    def restart(self) -> None:
        """Forget what was taken over: the next cut has the whole log."""
        self._salt, self._end, self._may_restart = b"", 0, True
        self._unchanged = settled_state(self._database)

    def cut(self) -> bytes | None:
        """The newest content of every page that was committed since the last cut, packed; None if there is none."""
        try:
            with self._path.open("rb") as log:
                header = log.read(HEADER)
                if len(header) < HEADER:
                    self._check_database()
                    return None
                salt = header[16:24]
                if salt != self._salt and not self._may_restart:
                    raise LogReplaced
                found = _committed(log, header, HEADER if salt != self._salt else self._end)
                if not found.places:
                    self._check_database()
                    return None
                size, parts = _page_size(header), []
                for _, place in sorted(found.places.items()):
                    log.seek(place)
                    parts.append(log.read(size))
        except FileNotFoundError:
            self._check_database()
            return None
        self._check_database()
        self._salt, self._end, self._may_restart = salt, found.end, False
        numbers = sorted(found.places)
        head = _HEAD.pack(_MAGIC, size, found.pages, len(numbers))
        return b"".join([head, struct.pack(f">{len(numbers)}I", *numbers), *parts])

    def _check_database(self) -> None:
        """Raise `LogReplaced` if another program moved the log into the database file: something may be missed."""
        if _state(self._database) != self._unchanged:
            raise LogReplaced

    def is_large(self) -> bool:
        """Whether the log should be moved into the database file."""
        return self._end > LARGE

    def checkpoint(self, connection: sqlite3.Connection) -> None:
        """Move the log into the database file; what readers still need of it stays. Call after a cut only."""
        connection.execute("pragma busy_timeout = 0")  # a reader must not make the writer wait
        try:
            _, frames, moved = connection.execute(_CHECKPOINT).fetchone()
        finally:
            connection.execute("pragma busy_timeout = 30000")
        self._unchanged = settled_state(self._database)
        self._may_restart = frames == moved
        if not frames:
            self._end = 0


def settled_state(database: Path) -> tuple[int, int]:
    """Time and size of a file, once its time is old enough for the next change to give it another."""
    while True:
        changed, size = _state(database)
        if abs(time.time_ns() - changed) > TICK:
            return changed, size
        time.sleep(TICK / 1e9)


def _state(database: Path) -> tuple[int, int]:
    facts = database.stat()
    return facts.st_mtime_ns, facts.st_size


def _page_size(header: bytes) -> int:
    (size,) = struct.unpack(">I", header[8:12])
    return int(size)


def _committed(log: BinaryIO, header: bytes, begin: int) -> _Committed:
    step, place = FRAME + _page_size(header), begin
    found, open_places = _Committed(begin, 0, {}), {}
    while True:
        log.seek(place)
        frame = log.read(FRAME)
        if len(frame) < FRAME or frame[8:16] != header[16:24]:
            return found
        page, pages = struct.unpack(">II", frame[:8])
        open_places[page] = place + FRAME
        place += step
        if pages:
            found = _Committed(place, pages, {**found.places, **open_places})
            open_places = {}


def apply_cut(database: BinaryIO, data: bytes) -> None:
    """Write the pages of a cut into a database file; `ValueError` if it is none."""
    if len(data) < _HEAD.size:
        raise ValueError("a part of the backup is cut short")
    magic, size, pages, count = _HEAD.unpack_from(data)
    begin = _HEAD.size + 4 * count
    if magic != _MAGIC or size not in (512 << shift for shift in range(8)) or len(data) != begin + count * size:
        raise ValueError("a part of the backup is not one")
    for index, number in enumerate(struct.unpack_from(f">{count}I", data, _HEAD.size)):
        if 0 < number <= pages:
            database.seek((number - 1) * size)
            database.write(data[begin + index * size : begin + (index + 1) * size])
    database.truncate(pages * size)
