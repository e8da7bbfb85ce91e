"""The journal's way to the store: the database file once, then what was committed, a few seconds at a time.

A head is written only when the store has every image that was stored before it, so what is restored is whole.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from convergebench.store.journal import Journal
from convergebench.store.labels import EVIDENCE
from convergebench.store.rating_book import FOLDER as BOOKS
from convergebench.store.remote.blobs import Blobs
from convergebench.store.remote.files import RemoteFiles, StoreError
from convergebench.store.remote.heads import KEPT, BackupHead, head_names, read_head
from convergebench.store.remote.uploads import Uploader
from convergebench.store.remote.wal import AUTOMATIC, LogReplaced, LogTail, settled_state
from convergebench.store.rubrics import FOLDER as RUBRICS
from convergebench.store.unfinished import PART

PIECE = 1_000_000
"""Bytes of a piece of the database file."""
MOST_PARTS = 500
"""Parts after which the database file itself is backed up again."""
FOLDERS = (RUBRICS, EVIDENCE, BOOKS)


@dataclass
class _Side:
    """The other files of a run as they were last seen."""

    seen: dict[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)
    """Name → (times and sizes, piece)."""
    manifest: tuple[int, ...] = ()
    listed: str = ""
    looked: float = 0.0
    took: float = 0.0


class JournalBackup:
    """The backup of one run's journal. `step` is called by one thread; `StoreError` leaves it as it was."""

    def __init__(self, root: Path, journal: Journal, *, files: RemoteFiles, uploader: Uploader, writer: str) -> None:
        self._root, self._journal, self._files, self._uploader = root, journal, files, uploader
        self._writer, self._database = writer, root / "run.sqlite"
        self._blobs = Blobs(files, writer)
        self._tail = LogTail(self._database)
        self._side = _Side()
        self._head: BackupHead | None = None
        """What the store has."""
        self._next: BackupHead | None = None
        """What it will have, with cuts that are uploaded or in `_cuts`."""
        self._cuts: list[bytes] = []
        self._manifest: tuple[tuple[int, ...], bytes] = (), b""
        self._number = 0
        self._looked = False
        journal.between_commits(lambda connection: connection.execute(AUTOMATIC).close())

    def step(self, until: float | None = None) -> bool:
        """Bring the store up to this moment; False if that has to be tried again."""
        if not self._looked:
            self._look()
        if self._next is None:
            self._begin()
        try:
            self._cut()
        except LogReplaced:
            self._next = None
            return False
        waiting = self._uploader.pending
        if not self._uploader.wait_for(waiting, until):
            return False
        return self._write_head()

    def _look(self) -> None:
        self._blobs.look()
        number = max((int(name[-15:-5]) for name in head_names(self._files).get(self._writer, [])), default=0)
        self._number = number
        self._looked = True

    def _begin(self) -> None:
        """The database file itself, while no checkpoint changes it; commits go on into the log."""
        self._cuts.clear()
        self._journal.between_commits(lambda connection: self._tail.restart())
        for _ in range(100):
            before = settled_state(self._database)
            names = []
            with self._database.open("rb") as file:
                while piece := file.read(PIECE):
                    names.append(self._blobs.put(piece))
            if settled_state(self._database) == before:
                break
            self._journal.between_commits(lambda connection: self._tail.restart())
        base = self._blobs.put(json.dumps(names).encode())
        self._next = BackupHead(self._writer, self._number, 0.0, self._root.resolve().name, base)

    def _cut(self) -> None:
        """Take over what was committed; now and then, move the log into the database file."""

        def work(connection: sqlite3.Connection) -> None:
            for _ in range(100):  # a manifest and rows of the same moment
                before = _state(self._root / "manifest.json")
                if (cut := self._tail.cut()) is not None:
                    self._cuts.append(cut)
                if before != self._manifest[0]:
                    self._manifest = before, _read(self._root / "manifest.json")
                if before == _state(self._root / "manifest.json"):
                    break
            if self._tail.is_large():
                self._tail.checkpoint(connection)

        self._journal.between_commits(work)

    def _write_head(self) -> bool:
        assert self._next is not None
        while self._cuts:
            self._next = replace(self._next, parts=[*self._next.parts, self._blobs.put(self._cuts[0])])
            del self._cuts[0]
        self._next = replace(self._next, files=self._other_files())
        if self._head is not None and replace(self._next, number=0, time=0) == replace(self._head, number=0, time=0):
            return True
        head = replace(self._next, number=self._number + 1, time=time.time())
        self._files.write(head.name, head.packed())
        self._number, fresh = head.number, self._head is None or self._head.base != head.base
        self._head = head
        with suppress(StoreError):  # a store may forbid to remove anything
            self._forget(fresh)
        if len(head.parts) > MOST_PARTS:
            self._next = None
        return True

    def _forget(self, fresh: bool) -> None:
        """Old heads; with a new base, also the pieces that only they needed."""
        names = head_names(self._files).get(self._writer, []) if fresh else []
        kept = set()
        for name in names[:KEPT]:
            head = read_head(self._files, name)
            if head is None:
                return  # one that cannot be read may need anything
            kept |= set(self._pieces(head))
        for name in names[KEPT:]:
            self._files.remove(name)
        if not fresh and self._number > KEPT:
            self._files.remove(replace(self._head, number=self._number - KEPT).name if self._head else "")
        if kept:
            self._blobs.keep_only(kept)

    def _pieces(self, head: BackupHead) -> Iterator[str]:
        yield head.base
        yield from json.loads(self._blobs.get(head.base))
        yield from head.parts
        if head.files:
            yield head.files
            yield from json.loads(self._blobs.get(head.files)).values()

    def _other_files(self) -> str:
        """The manifest, rubrics, crops and rating books; looked through again only if that takes little time."""
        side = self._side
        if side.listed and self._manifest[0] == side.manifest and time.monotonic() - side.looked < 20 * side.took:
            return side.listed
        begun = time.monotonic()
        seen: dict[str, tuple[tuple[int, ...], str]] = {}
        if self._manifest[1]:
            seen["manifest.json"] = (), self._blobs.put(self._manifest[1])
        for file in _side_files(self._root):
            try:
                state = _state(self._root / file)
                old = side.seen.get(file)
                seen[file] = old if old and old[0] == state else (state, self._blobs.put(_content(self._root / file)))
            except (OSError, sqlite3.Error):  # it is being replaced: the next time
                if file in side.seen:
                    seen[file] = side.seen[file]
        listed = self._blobs.put(json.dumps({file: piece for file, (_, piece) in sorted(seen.items())}).encode())
        self._side = _Side(seen, self._manifest[0], listed, time.monotonic(), time.monotonic() - begun)
        return listed

    def look_again(self) -> None:
        """At the end of a command: every other file, however long it takes."""
        self._side.looked = 0.0
        self._side.took = 0.0


def _state(path: Path) -> tuple[int, ...]:
    """Changes when the file does, or its log."""
    found: list[int] = []
    for one in (path, path.with_name(f"{path.name}-wal")) if path.parent.name == BOOKS else (path,):
        if one.exists():
            facts = one.stat()
            found += [facts.st_mtime_ns, facts.st_size]
    return tuple(found)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _side_files(root: Path) -> Iterator[str]:
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*")):
            ours = path.suffix == ".sqlite" if folder == BOOKS else True
            if ours and not path.name.startswith(PART) and path.is_file() and not path.is_symlink():
                yield f"{folder}/{path.name}"


def _content(path: Path) -> bytes:
    """The file; of a database that may be open elsewhere, a consistent copy."""
    if path.suffix != ".sqlite":
        return path.read_bytes()
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as book,
    ):
        copy = Path(folder) / "copy.sqlite"
        with closing(sqlite3.connect(copy)) as target:
            book.backup(target)
            target.execute("pragma journal_mode = delete")
        return copy.read_bytes()
