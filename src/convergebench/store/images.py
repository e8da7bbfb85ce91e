"""Content-addressed image files: the bytes as received, whole and on the disk before any row names them."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from convergebench.errors import StudyError
from convergebench.ids import image_id

T = TypeVar("T")

EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "image/tiff": "tif",
    "image/avif": "avif",
    "image/gif": "gif",
}


def sync_folder(folder: Path) -> None:
    """Make a rename inside this folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_synced(path: Path, data: bytes) -> None:
    """Write a file so that it is either absent or whole: temporary file, fsync, rename, fsync of the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


class ImageStore:
    """`images/ab/cdef….png` below a run directory. Safe to call from any thread."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # its own threads: an editor that blocks the event loop's must not keep images from being written
        self._threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="images")

    async def in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        """Do disk work beside the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def file_of(self, identity: str, mime: str) -> str:
        """Where an image lives, relative to the run directory."""
        digest = identity.removeprefix("i1:")
        return f"images/{digest[:2]}/{digest[2:]}.{EXTENSIONS.get(mime, 'bin')}"

    def put(self, data: bytes, mime: str) -> str:
        """Store bytes, return their id. A file that is there is whole, so it is not written again."""
        identity = image_id(data)
        path = self.root / self.file_of(identity, mime)
        try:
            if not path.exists():
                write_synced(path, data)
        except OSError as error:
            raise StudyError(
                f"cannot store an image in {self.root}: {error.strerror or error}; what was stored is safe. "
                "Make room, then run the same command again"
            ) from error
        return identity

    def read(self, file: str) -> bytes:
        """The bytes behind a relative path, as received."""
        try:
            return (self.root / file).read_bytes()
        except FileNotFoundError as error:
            raise StudyError(
                f"{file} is missing from {self.root}; restore it, or delete the run and go on with --reuse"
            ) from error

    def sweep(self) -> int:
        """Remove temporary files that a killed process left behind; returns how many."""
        left = list((self.root / "images").glob("*/.part-*"))
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)
