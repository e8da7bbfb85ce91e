"""A copy of a file on a disk that fails: what can be read, with zeros in the place of what cannot."""

from __future__ import annotations

import os
from pathlib import Path

_CHUNK = 1 << 20
_SECTOR = 4096


def copy_readable(source: Path, target: Path) -> None:
    """Copy a file; parts that give an error of the disk become zeros of the same length."""
    with source.open("rb", buffering=0) as old, target.open("wb") as new:
        size = os.fstat(old.fileno()).st_size
        for start in range(0, size, _CHUNK):
            new.write(_read(old.fileno(), start, min(_CHUNK, size - start)))


def _read(handle: int, start: int, length: int) -> bytes:
    try:
        return os.pread(handle, length, start)
    except OSError:
        if length <= _SECTOR:
            return bytes(length)
    pieces = range(start, start + length, _SECTOR)
    return b"".join(_read(handle, piece, min(_SECTOR, start + length - piece)) for piece in pieces)
