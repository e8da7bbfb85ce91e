"""Checksums of files, computed once.

A model of 16 GB takes long to read, and a command that only lists weights would read it every time. So the checksum of
a large file is saved in the cache folder under the file's inode, with its size and times, and is valid while none of
them changes. Users cannot set the change time (ctime), so an altered file is noticed even if it is dated back.
`cbench weights verify` reads everything again; a small file is read in every process.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from convergebench.folders import cache_folder

LARGE = 50_000_000
"""Bytes from which on a checksum is saved."""
NOTES = "checksums.json"


def sha256_of(path: Path) -> str:
    """SHA-256 of a file; a file is read once per process, a large one only once."""
    facts = path.stat()
    return _sha256(
        str(path), f"{facts.st_dev}:{facts.st_ino}", facts.st_size, facts.st_mtime_ns, getattr(facts, "st_ctime_ns", 0)
    )


def forget_checksums() -> None:
    """Drop all saved checksums, so that every file is read again."""
    _sha256.cache_clear()
    (cache_folder() / NOTES).unlink(missing_ok=True)


@cache
def _sha256(path: str, inode: str, size: int, *times: int) -> str:
    noted = _notes().get(inode) if size >= LARGE else None
    if isinstance(noted, list) and noted[:-1] == [size, *times]:
        return str(noted[-1])
    with Path(path).open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    if size >= LARGE:
        _note({**_notes(), inode: [size, *times, checksum]})
    return checksum


def _notes() -> dict[str, Any]:
    try:
        notes = json.loads((cache_folder() / NOTES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _note(notes: dict[str, Any]) -> None:
    """Replace the file atomically, as others may be reading; an unwritable cache only costs time."""
    with suppress(OSError):
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".noting-") as scratch:
            path = Path(scratch) / NOTES
            path.write_text(json.dumps(notes, indent=1), encoding="utf-8")
            path.replace(folder / NOTES)
