"""What a run holds and no row of its journal names: left-over images, crops, temporary files, old backups.

Only names that this package makes are ever counted. Nothing is removed from a run whose journal is damaged, since it is
then not known what the lost rows named.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.store.connection import connect
from convergebench.store.images import identity_of
from convergebench.store.labels import EVIDENCE, source_crop
from convergebench.store.lock import RunLock, require_unlocked
from convergebench.store.remote.checking import pieces
from convergebench.store.remote.eviction import trim
from convergebench.store.remote.fetching import OpenedStore, opened_store
from convergebench.store.remote.files import RemoteFiles
from convergebench.store.remote.heads import head_names, read_head
from convergebench.store.remote.uploads import UploadedFiles, image_files
from convergebench.store.remote.writer import claim, present_writer, sign
from convergebench.store.run import require_run
from convergebench.store.unfinished import PART, left_behind
from convergebench.store.verify import REFERENCES

_CROP = re.compile(rf"{EVIDENCE}/[0-9a-f]{{32}}(-source)?\.png")
_BACKUP = re.compile(r"journal/([0-9a-f]{16})/(head-\d{10}\.json|pieces/[0-9a-f]{64})")
_PART = re.compile(rf"(?:[^/]+/)*{re.escape(PART)}[^/]+")


@dataclass
class Garbage:
    """Names and bytes, by what they are."""

    here: dict[str, dict[str, int]] = field(default_factory=dict)
    """In the folder of the run."""
    there: dict[str, dict[str, int]] = field(default_factory=dict)
    """At its store."""
    url: str = ""
    note: str = ""
    """Why the store was left alone, if it was."""
    evicted: int = 0
    """Bytes of images that left the folder because the store has them."""


def find_garbage(root: Path, *, store: bool = True) -> Garbage:
    """What could be removed; removes nothing. `RunLocked` while another process writes the run."""
    require_run(root)
    require_unlocked(root)
    return _found(root, store=store)


def collect(root: Path, *, store: bool = True, cache_mb: int | None = None) -> Garbage:
    """Remove it; a command that is killed half-way has removed only what no row names.

    With `cache_mb` images that the store has leave the folder too, the oldest first, until no more remain than that.
    """
    require_run(root)
    lock = RunLock(root / "run.lock")
    lock.acquire()
    try:
        found = _found(root, store=store)
        opened = opened_store(root) if found.there or cache_mb is not None else None
        if cache_mb is not None and opened is None:
            raise StudyError(f"{root} has no store, so its images stay; leave --cache-mb out")
        with closing(UploadedFiles(root)) if opened is not None else nullcontext() as uploaded:
            if opened is not None and uploaded is not None:
                _remove_there(found, opened, uploaded)
            for files in found.here.values():
                for name in files:
                    (root / name).unlink(missing_ok=True)
            if opened is not None and uploaded is not None and cache_mb is not None:
                found.evicted = trim(root, cache_mb * 1_000_000, files=opened.files, uploaded=uploaded)
        return found
    finally:
        lock.release()


def _remove_there(found: Garbage, opened: OpenedStore, uploaded: UploadedFiles) -> None:
    if not found.there:
        return
    claim(opened.files, opened.settings.writer)
    try:
        for files in found.there.values():
            for name in files:
                uploaded.discard(name)  # before: the same bytes may come again, and must then be uploaded again
                opened.files.remove(name)
    finally:
        sign(opened.files, opened.settings.writer, closed=True)


def _found(root: Path, *, store: bool) -> Garbage:
    found = Garbage()
    with closing(connect(root / "run.sqlite", read_only=True)) as connection:
        named = _Named(connection, root)
        found.here["images that no row names"] = {
            file: (root / file).stat().st_size for file in image_files(root) if not named.has_image(file)
        }
        found.here["crops that no label names"] = {
            file: (root / file).stat().st_size for file in _crops(root) if file not in named.crops
        }
        found.here["temporary files"] = {
            path.relative_to(root).as_posix(): path.lstat().st_size for path in left_behind(root)
        }
        opened = opened_store(root) if store else None
        if opened is not None:
            _find_there(found, named, opened)
    found.here = {what: files for what, files in found.here.items() if files}
    found.there = {what: files for what, files in found.there.items() if files}
    return found


def _find_there(found: Garbage, named: _Named, opened: OpenedStore) -> None:
    files, writer = opened.files, opened.settings.writer
    found.url = files.address.url
    present = present_writer(files).get("writer")
    if not writer or present != writer:
        found.note = f"{found.url} was last written from another folder, so nothing is removed there"
        return
    sizes = files.sizes()
    found.there["images that no row names"] = {
        name: size for name, size in sizes.items() if identity_of(name) is not None and not named.has_image(name)
    }
    found.there["temporary files"] = {name: size for name, size in sizes.items() if _PART.fullmatch(name)}
    kept = _kept_backups(files, writer)
    if kept is not None:
        found.there["pieces of old backups"] = {
            name: size for name, size in sizes.items() if _BACKUP.fullmatch(name) and name not in kept
        }


def _kept_backups(files: RemoteFiles, writer: str) -> set[str] | None:
    """Everything that the backups of the present writer consist of; None if one of them cannot be read."""
    kept: set[str] = set()
    for name in head_names(files).get(writer, []):
        head = read_head(files, name)
        if head is None:
            return None
        kept |= {name, *(f"journal/{writer}/pieces/{piece}" for piece in pieces(files, head))}
    return kept or None


def _crops(root: Path) -> Iterator[str]:
    for path in sorted((root / EVIDENCE).glob("*.png")):
        file = f"{EVIDENCE}/{path.name}"
        if _CROP.fullmatch(file) and path.is_file() and not path.is_symlink():
            yield file


class _Named:
    """What the journal names."""

    def __init__(self, connection: sqlite3.Connection, root: Path) -> None:
        self._connection = connection
        try:
            if connection.execute("pragma quick_check(1)").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("its pages are damaged")
            tables = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
            self._without_row = self._dangling(tables)
            self.crops = self._crops() if "labels" in tables else set()
        except sqlite3.Error as error:
            raise StudyError(
                f"the journal of {root} is damaged ({error}), so it is not known what can be removed; nothing was "
                f"removed. First type: cbench recover {root}"
            ) from error

    def has_image(self, file: str) -> bool:
        """Whether a row names this file, or the image in it."""
        identity = identity_of(file)
        row = self._connection.execute("select file from images where id = ?", (identity,)).fetchone()
        return row is not None or identity in self._without_row

    def _dangling(self, tables: set[str]) -> set[str]:
        """Images that are named somewhere and have no row of their own."""
        found: set[str] = set()
        for _, table, columns, to in REFERENCES:
            there = (
                {one[1] for one in self._connection.execute(f"pragma table_info({table})")}
                if table in tables
                else set()
            )
            for column in columns if to == "images" else ():
                if column in there:
                    query = f'select distinct "{column}" from {table} where "{column}" not in (select id from images)'
                    found |= {str(one) for (one,) in self._connection.execute(query)}
        return found

    def _crops(self) -> set[str]:
        query = "select evidence from labels where evidence is not null"
        named = {str(file) for (file,) in self._connection.execute(query)}
        return named | {source_crop(file) for file in named}
