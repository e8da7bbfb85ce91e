"""Checksums of files, worked out once.

A model of 16 GB takes long to read, and a command that only lists what is here would read it every time. So the
checksum of a large file is noted in the cache folder under the file's inode, with its size and times, and holds as long
as none of them changes. One of the times is set by the system alone, so a file cannot be changed and dated back.
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
"""Bytes from which a checksum is noted."""
NOTES = "checksums.json"


def sha256_of(path: Path) -> str:
    """Checksum of a file; the same file is read once per process, a large one once for all."""
    facts = path.stat()
    return _sha256(
        str(path), f"{facts.st_dev}:{facts.st_ino}", facts.st_size, facts.st_mtime_ns, getattr(facts, "st_ctime_ns", 0)
    )


def forget_checksums() -> None:
    """Read every file again."""
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
    """All at once, for others may be reading; a cache that cannot be written costs time and nothing else."""
    with suppress(OSError):
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".noting-") as scratch:
            path = Path(scratch) / NOTES
            path.write_text(json.dumps(notes, indent=1), encoding="utf-8")
            path.replace(folder / NOTES)
