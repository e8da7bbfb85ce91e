"""Images that are not in the run's folder: fetched from its store, checked, and kept in the folder as in a cache."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import deque
from functools import lru_cache
from pathlib import Path

from convergebench.ids import image_id
from convergebench.store.images import EXTENSIONS, DamagedImage, identity_of
from convergebench.store.remote.files import RemoteFiles, StoreError
from convergebench.store.remote.settings import FILE, StoreSettings, read_settings, require_confirmed
from convergebench.store.unfinished import PART

PATIENCE = 60.0
"""Seconds for which a store that does not answer is asked again."""
_PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_SHARE = 8
"""A process keeps an eighth of the cache's limit of what it fetched itself."""


def fetched(root: Path, file: str, *, patience: float = PATIENCE) -> bytes | None:
    """The image from the run's store, its bytes checked; None if the run has no store.

    `DamagedImage` if the store has it not, or with other bytes; `StoreError` if the store does not answer.
    """
    identity = identity_of(file)
    opened = opened_store(root)
    if opened is None or identity is None:
        return None
    data = read_patiently(opened.files, file, patience=patience)
    if data is not None and image_id(data) != identity:
        data = opened.files.read(file)  # once more: the fault may have been on the way
    url = opened.files.address.url
    if data is None:
        raise DamagedImage(root, file, f"is missing, here and at {url}")
    if image_id(data) != identity:
        raise DamagedImage(root, file, f"has changed at {url} since it was stored")
    opened.keep(file, data)
    return data


def read_patiently(files: RemoteFiles, name: str, *, patience: float = PATIENCE) -> bytes | None:
    """The object, asked for again while the store does not answer."""
    until = time.monotonic() + patience
    for pause in (*_PAUSES, *[_PAUSES[-1]] * 100_000):
        try:
            return files.read(name)
        except StoreError as error:
            if error.final or time.monotonic() + pause > until:
                raise
        time.sleep(pause)
    raise AssertionError("the pauses do not end")


class OpenedStore:
    """The store of one run, as this process reads it."""

    def __init__(self, root: Path, settings: StoreSettings) -> None:
        self.root, self.settings = root, settings
        self.files = RemoteFiles(require_confirmed(root, settings))
        self._kept: deque[tuple[str, int]] = deque()
        self._bytes = 0
        self._lock = threading.Lock()

    def keep(self, file: str, data: bytes) -> None:
        """Into the folder; one that cannot be written is read without a cache."""
        try:
            _placed(self.root / file, data)
        except OSError:
            return
        limit = self.settings.cache_bytes
        if limit is None:
            return
        with self._lock:
            self._kept.append((file, len(data)))
            self._bytes += len(data)
            while self._kept and self._bytes > limit // _SHARE:
                old, size = self._kept.popleft()
                self._bytes -= size
                (self.root / old).unlink(missing_ok=True)  # the store has it: this process read it from there


def _placed(path: Path, data: bytes) -> None:
    """Whole or not at all. It is not synced: bytes that a power cut spoils are fetched again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=PART)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def opened_store(root: Path) -> OpenedStore | None:
    """The store of a run; None if it has none. `StoreError` if its URL was never confirmed."""
    try:
        made = (root / FILE).stat().st_mtime_ns
    except OSError:
        return None
    return _opened(root, made, os.getpid())


@lru_cache(maxsize=64)
def _opened(root: Path, made: int, process: int) -> OpenedStore | None:
    settings = read_settings(root)
    return None if settings is None else OpenedStore(root, settings)


def stored_name(root: Path, digest: str) -> str | None:
    """The file of an image whose type is not known, by the sha256 of its bytes; None if the store has none."""
    opened = opened_store(root)
    for extension in EXTENSIONS.values() if opened else ():
        file = f"images/{digest[:2]}/{digest[2:]}.{extension}"
        if opened is not None and opened.files.size(file) is not None:
            return file
    return None
