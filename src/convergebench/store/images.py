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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

from convergebench.errors import StudyError
from convergebench.ids import image_id
from convergebench.store.unfinished import PART, left_behind

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
STORE = "store.json"
"""The file of a run whose images are kept at a URL too: see `store/remote`."""


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
    """The bytes as received; `DamagedImage` if they do not match the file's name or `identity`.

    What the folder does not have, or has damaged, comes from the run's store, if it has one.
    """
    try:
        return read_here(root, file, identity)
    except DamagedImage:
        if not (root / STORE).is_file():
            raise
        from convergebench.store.remote.fetching import fetched  # fsspec is for runs that have a store

        if identity in (None, identity_of(file)) and (data := fetched(root, file)) is not None:
            return data
        raise


def read_here(root: Path, file: str, identity: str | None = None) -> bytes:
    """The same of the folder alone."""
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


class Uploads(Protocol):
    """Who takes the images of a run to its store."""

    def stored(self, file: str) -> None:
        """A file is in the folder, synced; it is uploaded when its turn comes."""

    def make_room(self, needed: int) -> bool:
        """Remove files that the store has, so that as many bytes fit on the disk; False if there are none."""


class ImageStore:
    """The images of a run: `images/ab/cdef….png` below its directory. Safe to call from any thread.

    Made by `open_images` (or by `Run`, whose store may write). `locate` gives the run directory before each write and
    raises if it was moved away; `require` raises likewise before each read. With `uploads` the folder is a cache of the
    run's store.
    """

    uploads: Uploads | None = None

    def __init__(
        self, root: Path, *, locate: Callable[[], Path] | None = None, require: Callable[[], None] | None = None
    ) -> None:
        self.root = root
        self._locate, self._require = locate or (lambda: root), require or (lambda: None)
        self._named: set[Path] = set()
        """Folders of images whose own names are on the disk."""
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
        file = file_of(identity, mime)
        root = self._locate()
        try:
            try:
                self._place(root / file, data)
            except FileNotFoundError:  # the run was moved in this very moment: an image that was paid for follows it
                if (now := self._locate()) == root:
                    raise
                self._place(now / file, data)
        except OSError as error:
            cure = "Free some disk space" if error.errno in _NO_ROOM else "Fix that"
            raise StudyError(
                f"cannot store an image in {self.root}: {error.strerror or error}; what was stored is safe. "
                f"{cure}, then run the same command again"
            ) from error
        if self.uploads is not None:
            self.uploads.stored(file)
        return identity

    def _place(self, path: Path, data: bytes) -> None:
        if _holds(path, data):
            sync_folder(path.parent)  # whoever wrote it may have been killed before this
        else:
            _make_way(path)
            self._write(path, data)
        self._sync_above(path.parent)

    def _write(self, path: Path, data: bytes) -> None:
        try:
            write_synced(path, data)
        except OSError as error:
            if error.errno not in _NO_ROOM or self.uploads is None or not self.uploads.make_room(len(data)):
                raise
            write_synced(path, data)

    def _sync_above(self, folder: Path) -> None:
        """Sync the folders that hold this folder's name, once a session: a new folder has a name to lose, too."""
        if folder not in self._named:
            for above in (folder.parent, folder.parent.parent):
                sync_folder(above)
            self._named.add(folder)

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
            if (self.root / file).is_file():
                return (self.root / file).read_bytes()
            return read_image(self.root, file) if self._is_elsewhere(file) else None
        except (OSError, StudyError):
            return None

    def has(self, file: str) -> bool:
        """Whether an image that a row names can be looked at: it is in the folder, or the run has a store."""
        return (self.root / file).is_file() or self._is_elsewhere(file)

    def is_intact(self, file: str) -> bool:
        """Whether a file holds what its name says; of one that only the store has, whether it is there."""
        try:
            read_here(self.root, file)
        except DamagedImage:
            if not self._is_elsewhere(file):
                return False
            from convergebench.store.remote.fetching import opened_store

            opened = opened_store(self.root)
            return opened is not None and opened.files.size(file) is not None
        return True

    def find(self, digest: str) -> str | None:
        """The file of an image of which only the sha256 is known; None if the run has none."""
        if not re.fullmatch("[0-9a-f]{64}", digest):
            return None
        found = next((self.root / "images" / digest[:2]).glob(f"{digest[2:]}.*"), None)
        if found is not None:
            return found.relative_to(self.root).as_posix()
        if not (self.root / STORE).is_file():
            return None
        from convergebench.store.remote.fetching import stored_name

        try:
            return stored_name(self.root, digest)
        except StudyError:
            return None

    def _is_elsewhere(self, file: str) -> bool:
        path = self.root / file
        return (self.root / STORE).is_file() and identity_of(file) is not None and not path.exists()

    def sweep(self) -> int:
        """Remove temporary files that a killed process left behind anywhere in the run; returns how many."""
        left = list(left_behind(self.root))
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)


def open_images(root: Path) -> ImageStore:
    """The images of the run in this folder: the one place that decides how a run's images are stored."""
    return ImageStore(root)


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
