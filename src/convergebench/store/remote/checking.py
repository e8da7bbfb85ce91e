"""Checking a store: every image is read and hashed, and the newest backup of the journal must be whole."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from convergebench.ids import image_id
from convergebench.store.remote.blobs import Blobs, DamagedBackup
from convergebench.store.remote.fetching import opened_store, read_patiently
from convergebench.store.remote.files import RemoteFiles
from convergebench.store.remote.heads import BackupHead, newest_first
from convergebench.store.remote.writer import present_writer
from convergebench.store.verify import NamedImage

AT_ONCE = 16


@dataclass
class StoreFindings:
    """What a check of the store says."""

    url: str
    faults: list[str]
    not_yet: int = 0
    """Intact images of the folder that were not uploaded so far."""
    read: int = 0


def check_store(root: Path, images: Iterable[NamedImage]) -> StoreFindings | None:
    """Read everything that the store should have; None if the run has no store."""
    opened = opened_store(root)
    if opened is None:
        return None
    files, found = opened.files, StoreFindings(opened.files.address.url, [])
    for image, fault in _checked(files, images):
        if fault == "missing" and (root / image.file).is_file():
            found.not_yet += 1
        elif fault:
            found.faults.append(f"{files.address.url}/{image.file} is {fault}")
        else:
            found.read += 1
    found.faults += _backup_faults(files, opened.settings.writer)
    return found


def _checked(files: RemoteFiles, images: Iterable[NamedImage]) -> Iterator[tuple[NamedImage, str]]:
    def fault(image: NamedImage) -> str:
        data = read_patiently(files, image.file)
        if data is None:
            return "missing"
        return "" if image_id(data) == image.identity else "damaged: its bytes have changed since they were stored"

    waiting: deque[tuple[NamedImage, Future[str]]] = deque()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for image in images:
            waiting.append((image, pool.submit(fault, image)))
            if len(waiting) > 4 * AT_ONCE:
                first, future = waiting.popleft()
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()


def _backup_faults(files: RemoteFiles, writer: str) -> Iterator[str]:
    current = str(present_writer(files).get("writer", "")) or writer
    head = next(newest_first(files, current), None)
    if head is None:
        if writer:
            yield f"{files.address.url} has no whole backup of the journal"
        return
    for name in pieces(files, head):
        try:
            Blobs(files, head.writer).get(name)
        except DamagedBackup as error:
            yield f"{files.address.url}/{error}, so the newest backup of the journal cannot be restored"
            return


def pieces(files: RemoteFiles, head: BackupHead) -> Iterator[str]:
    """Every piece that a backup consists of; `DamagedBackup` is left to who reads them."""
    blobs = Blobs(files, head.writer)
    for listing in (head.base, head.files):
        yield listing
        try:
            content = json.loads(blobs.get(listing))
        except (DamagedBackup, ValueError):
            continue
        yield from content if isinstance(content, list) else content.values()
    yield from head.parts
