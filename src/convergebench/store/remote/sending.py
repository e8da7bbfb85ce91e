"""Sending finished files to a URL: a data set or a document, whole or recognisably unfinished."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.store.remote.address import StoreAddress
from convergebench.store.remote.files import RemoteFiles, StoreError

UNFINISHED = ".unfinished"
"""An object with this name is at the URL until everything else is there."""
AT_ONCE = 8
PATIENCE = 120.0
LAST = ("checksums.sha256", "README.md")


def begin_sending(address: StoreAddress) -> RemoteFiles:
    """`StudyError` unless the URL is unused, or an earlier try ended half-way; then it is marked as unfinished."""
    files = RemoteFiles(address)
    if not files.is_empty() and files.size(UNFINISHED) is None:
        raise StudyError(f"--out {address.url} is not empty; name an unused prefix")
    _write(files, UNFINISHED, b"being written\n")
    return files


def send_folder(files: RemoteFiles, folder: Path) -> int:
    """Upload a folder, its list of check sums last; returns the number of files. Left-overs of an earlier try go."""
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    first = [name for name in names if name not in LAST]
    for name in files.sizes().keys() - set(names) - {UNFINISHED}:
        files.remove(name)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(_write, files, name, (folder / name)) for name in first]:
            done.result()
    for name in LAST:
        if name in names:
            _write(files, name, folder / name)
    there = files.sizes()
    for name in names:
        if there.get(name) != (folder / name).stat().st_size:
            raise StudyError(f"{files.address.url}/{name} did not arrive whole; run the same command again")
    files.remove(UNFINISHED)
    return len(names)


def send_file(address: StoreAddress, path: Path) -> None:
    """Upload one file to this very URL."""
    url, _, name = address.url.rpartition("/")
    _write(RemoteFiles(StoreAddress(address.protocol, url)), name, path)


def _write(files: RemoteFiles, name: str, content: bytes | Path) -> None:
    """Tried again while the store does not answer."""
    data = content if isinstance(content, bytes) else content.read_bytes()
    until, pause = time.monotonic() + PATIENCE, 0.2
    while True:
        try:
            files.write(name, data)
            return
        except StoreError as error:
            if error.final or time.monotonic() + pause > until:
                raise StudyError(f"{error}; run the same command again to continue") from error
        time.sleep(pause)
        pause = min(2 * pause, 20.0)
