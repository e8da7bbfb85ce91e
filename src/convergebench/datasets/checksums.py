"""`checksums.sha256`: every file of a data set, as `sha256sum -c` reads it."""

from __future__ import annotations

import hashlib
from pathlib import Path

NAME = "checksums.sha256"


def file_sha256(path: Path) -> str:
    """Of a file of any size."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_checksums(root: Path) -> Path:
    """List every file below a folder, in order of their names, the list itself excepted."""
    target = root / NAME
    with target.open("w", encoding="utf-8") as lines:
        for path in sorted(path for path in root.rglob("*") if path.is_file() and path != target):
            lines.write(f"{file_sha256(path)}  {path.relative_to(root).as_posix()}\n")
    return target
