"""Files that can be made again: kept in the user's cache folder, checked whenever they are read.

A kept file is called `KEY.SHA256.png`: the key says how it was made, the sum what it holds. A file whose bytes
do not fit its name is dropped and made again.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from convergebench.errors import StudyError


@dataclass(frozen=True, slots=True)
class Kept:
    """One file of the cache, found whole a moment ago."""

    path: Path
    sha256: str


def find(folder: Path, key: str) -> Kept | None:
    """The whole file kept under `key`, or None; damaged ones are removed on the way."""
    for path in sorted(folder.glob(f"{key}.*.png")):
        sha256 = path.name[len(key) + 1 : -len(".png")]
        if hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
            return Kept(path, sha256)
        path.unlink(missing_ok=True)
    return None


def keep(folder: Path, key: str, *, data: bytes) -> Kept:
    """Store bytes under `key`: written aside, then renamed, so that no reader ever sees half a file."""
    sha256 = hashlib.sha256(data).hexdigest()
    path = folder / f"{key}.{sha256}.png"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=".part", delete=False) as stream:
            stream.write(data)
        Path(stream.name).replace(path)
    except OSError as error:
        raise StudyError(
            f"cannot write to the cache folder {folder}: {error.strerror or error}; "
            "set CONVERGEBENCH_CACHE to a folder you can write to"
        ) from error
    return Kept(path, sha256)


def read_kept(kept: Kept, make: Callable[[], bytes]) -> bytes:
    """The bytes of a kept file; made again if it was lost or damaged meanwhile, and then they must be the same."""
    data = kept.path.read_bytes() if kept.path.exists() else b""
    if hashlib.sha256(data).hexdigest() == kept.sha256:
        return data
    data = make()
    if hashlib.sha256(data).hexdigest() != kept.sha256:
        raise StudyError(
            f"{kept.path.name} was lost from the cache and cannot be made again the same; load the suite anew"
        )
    return data
