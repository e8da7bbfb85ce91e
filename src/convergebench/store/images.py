"""Content-addressed image files: the bytes as received, whole and on the disk before any row names them.

An image's name is the hash of its bytes and is checked at every read: damaged bytes reach no editor, judge, metric or
export.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

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
_FILE = re.compile(r"images/([0-9a-f]{2})/([0-9a-f]{62})\.[a-z]{3,4}")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
PART = ".part-"
"""Prefix of files that are still being written."""
_REPORT_PART = re.compile(r"\..+\.\d+\.part")
OLD = 3600.0
"""Seconds after which an unfinished report file counts as abandoned."""


class DamagedImage(StudyError):
    """An image file of a run is missing, cannot be read, or holds other bytes than its name says."""

    def __init__(self, root: Path, file: str, what: str) -> None:
        super().__init__(
            f"{file} in {root} {what}; restore this file from a copy, or type: cbench recover {root} "
            f"(cbench verify {root} lists all damage)"
        )
        self.root, self.file, self.what = root, file, what

    def __reduce__(self) -> tuple[type[DamagedImage], tuple[Path, str, str]]:
        """For pickling: workers raise it in another process."""
        return DamagedImage, (self.root, self.file, self.what)


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
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=PART)
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


def file_of(identity: str, mime: str) -> str:
    """Where an image lives, relative to the run directory."""
    digest = identity.removeprefix("i1:")
    return f"images/{digest[:2]}/{digest[2:]}.{EXTENSIONS.get(mime, 'bin')}"


def identity_of(file: str) -> str | None:
    """The image id that a file's name encodes; None if it is not the name of a stored image."""
    found = _FILE.fullmatch(file)
    return f"i1:{found[1]}{found[2]}" if found else None


def read_image(root: Path, file: str, identity: str | None = None) -> bytes:
    """The bytes as received; `DamagedImage` if they do not match the file's name or `identity`."""
    named = identity_of(file)
    if named is None:
        raise DamagedImage(root, file, "is not the name of a stored image")
    if identity not in (None, named):
        raise DamagedImage(root, file, f"is named like a different image than {identity}")
    try:
        if not stat.S_ISREG((root / file).stat().st_mode):  # a pipe would keep its reader waiting
            raise DamagedImage(root, file, "is not a plain file")
        data = (root / file).read_bytes()
    except FileNotFoundError as error:
        raise DamagedImage(root, file, "is missing") from error
    except OSError as error:
        raise DamagedImage(root, file, f"cannot be read ({error.strerror or error})") from error
    if image_id(data) != named:
        raise DamagedImage(root, file, "has changed since it was stored")
    return data


class ImageReader(Protocol):
    """A source of image bytes: a run, or plain files. It can be sent to a worker process."""

    def read(self, file: str, identity: str | None = None) -> bytes:
        """The bytes as received; `DamagedImage` if they are not those of `identity`."""


class ImageStore:
    """The images of a run: `images/ab/cdef….png` below its directory. Safe to call from any thread.

    Made by `open_images` (or by `Run`, whose store may write). `locate` gives the run directory before each write and
    raises if it was moved away; `require` raises likewise before each read.
    """

    def __init__(
        self, root: Path, *, locate: Callable[[], Path] | None = None, require: Callable[[], None] | None = None
    ) -> None:
        self.root = root
        self._locate, self._require = locate or (lambda: root), require or (lambda: None)
        # its own threads: an editor that blocks those of the event loop must not delay writing images
        self._threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="images")

    def __reduce__(self) -> tuple[Callable[[Path], ImageStore], tuple[Path]]:
        """In a worker process: the same images, for reading."""
        return open_images, (self.root,)

    async def in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        """Do disk work beside the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def file_of(self, identity: str, mime: str) -> str:
        """Where an image is kept, relative to the run directory."""
        return file_of(identity, mime)

    def put(self, data: bytes, mime: str) -> str:
        """Store bytes, return their id. A file that is there is kept only if it holds the same bytes."""
        identity = image_id(data)
        try:
            path = self._locate() / file_of(identity, mime)
            if not _holds(path, data):
                _make_way(path)
                write_synced(path, data)
        except OSError as error:
            cure = "Free some disk space" if error.errno in _NO_ROOM else "Fix that"
            raise StudyError(
                f"cannot store an image in {self.root}: {error.strerror or error}; what was stored is safe. "
                f"{cure}, then run the same command again"
            ) from error
        return identity

    def put_crop(self, file: str, data: bytes) -> None:
        """Store the crop that shows a failure, under its path inside the run directory."""
        write_synced(self.root / file, data)

    def read(self, file: str, identity: str | None = None) -> bytes:
        """The bytes behind a path inside the run directory, as received; `DamagedImage` if they are not `identity`."""
        self._require()
        return read_image(self.root, file, identity)

    def view(self, file: str) -> bytes | None:
        """The bytes of an image or a crop, to be looked at as they are; None if they cannot be read."""
        try:
            return (self.root / file).read_bytes() if (self.root / file).is_file() else None
        except OSError:
            return None

    def is_intact(self, file: str) -> bool:
        """Whether a file holds what its name says."""
        try:
            read_image(self.root, file)
        except DamagedImage:
            return False
        return True

    def sweep(self) -> int:
        """Remove temporary files that a killed process left behind anywhere in the run; returns how many."""
        left = list(_left_behind(self.root))
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)


def open_images(root: Path) -> ImageStore:
    """The images of the run in this folder: the one place that decides how a run's images are stored."""
    return ImageStore(root)


def _left_behind(root: Path) -> Iterator[Path]:
    """Files only, and not through links: what a link leads to is not the run's."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            # reports are written without the lock: a recent part may belong to a running command
            if name.startswith(PART) or (_REPORT_PART.fullmatch(name) and _is_old(path)):
                yield path


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > OLD
    except OSError:
        return False


def _holds(path: Path, data: bytes) -> bool:
    """Whether this file has these bytes; a link does not count, since its target may change."""
    try:
        if path.is_symlink() or path.stat().st_size != len(data):
            return False
        return path.read_bytes() == data
    except OSError:  # absent or unreadable: it is written again
        return False


def _make_way(path: Path) -> None:
    """Rename a folder that is in the image's place; a file or a link is replaced by the rename."""
    if path.is_dir() and not path.is_symlink():
        number = next(n for n in range(1, 10_000) if not path.with_name(f"{path.name}.aside-{n}").exists())
        path.rename(path.with_name(f"{path.name}.aside-{number}"))
