"""Room in the folder of a run that has a store: files go that the store surely has, the oldest first."""

from __future__ import annotations

from pathlib import Path

from convergebench.store.remote.files import RemoteFiles
from convergebench.store.remote.uploads import UploadedFiles, image_files


def cached(root: Path) -> list[tuple[float, int, str]]:
    """(time, bytes, name) of every image in the folder, the oldest first."""
    found = []
    for file in image_files(root):
        try:
            facts = (root / file).stat()
        except OSError:
            continue
        found.append((facts.st_mtime, facts.st_size, file))
    return sorted(found)


def evict(root: Path, needed: int, *, files: RemoteFiles, uploaded: UploadedFiles) -> int:
    """Remove files of at least this many bytes together; returns how many bytes were removed.

    A file goes only if it was uploaded and the store says, now, that it has as many bytes of it.
    """
    freed = 0
    for _, size, file in cached(root):
        if freed >= needed:
            break
        if file not in uploaded:
            continue
        if files.size(file) != size:  # it was lost there: it is uploaded again
            uploaded.discard(file)
            continue
        (root / file).unlink(missing_ok=True)
        freed += size
    return freed


def trim(root: Path, limit: int, *, files: RemoteFiles, uploaded: UploadedFiles) -> int:
    """Bring the folder's images under the limit; returns how many bytes were removed."""
    total = sum(size for _, size, _ in cached(root))
    return evict(root, total - limit, files=files, uploaded=uploaded) if total > limit else 0
