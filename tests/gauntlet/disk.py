"""The disk of the simulation: real files and a real database, whose writes fail or are the last ones, as planned.

Every write is an event: a statement of the journal's writer, the sync of a file, a rename. At an event the disk can be
full (with half of the file written), the database busy or broken, or the process killed. A kill copies the run
directory as it is at that moment, and the copy is all that the next session gets. A power cut also takes what was
written and never synced.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.gauntlet.plan import DiskFault

_REAL_CONNECT, _REAL_FSYNC, _REAL_REPLACE, _REAL_MKDIR = sqlite3.connect, os.fsync, os.replace, os.mkdir


class Killed(BaseException):
    """The process is gone: what follows in it reaches nobody."""


@dataclass
class Platter:
    """What a power cut would leave, by paths inside the run; a plain kill changes nothing about it."""

    synced: set[Path] = field(default_factory=set)
    """Files whose content is safe."""
    unsynced_names: set[Path] = field(default_factory=set)
    """New names in folders that were not synced since."""


class SimulatedDisk:
    """The disk of one session. `faults`: event number → what happens there."""

    def __init__(
        self, root: Path, faults: dict[int, DiskFault], randomness: random.Random, platter: Platter | None = None
    ) -> None:
        self.root, self.faults, self.platter = root, faults, platter or Platter()
        self.events = 0
        self.met: list[str] = []
        self.failed = False
        self.snapshot: Path | None = None
        """The run as the kill left it; None: the process lives."""
        self.at_kill: Callable[[], None] = lambda: None
        self.log: Callable[[str], None] = lambda event: None
        self._randomness = randomness

    @property
    def dead(self) -> bool:
        return self.snapshot is not None

    def next_fault(self, event: str) -> DiskFault | None:
        """Count an event and say what happens at it."""
        if self.dead:
            return None
        self.events += 1
        self.log(event)
        fault = self.faults.get(self.events)
        if fault is not None:
            self.met.append(f"{fault} at {event}")
        return fault

    def kill(self, *, power_cut: bool = False, torn: int | None = None) -> None:
        """Keep what is on the disk now. `torn`: the log had this many bytes when the last commit began."""
        copy = self.root.with_name(f"{self.root.name}+")
        shutil.copytree(self.root, copy)
        for beside in copy.glob("*.sqlite-shm"):  # memory of processes: it goes with them
            beside.unlink()
        if torn is not None:
            _cut(copy / "run.sqlite-wal", torn, self._randomness)
        if power_cut:
            self._lose_unsynced(copy)
        self.snapshot = copy
        self.at_kill()

    def _lose_unsynced(self, copy: Path) -> None:
        """The content of files that were not synced, and names in folders that were not."""
        for name in sorted(self.platter.unsynced_names):
            gone = copy / name
            shutil.rmtree(gone) if gone.is_dir() else gone.unlink(missing_ok=True)
        for path in sorted(copy.rglob("*")):
            if path.is_file() and "sqlite" not in path.name and path.relative_to(copy) not in self.platter.synced:
                _cut(path, 0, self._randomness)
        self.platter.unsynced_names.clear()
        self.platter.synced.update(path.relative_to(copy) for path in copy.rglob("*"))

    def fsync(self, handle: int) -> None:
        """Nothing is really synced, which would be slow; what counts is that it was asked for."""
        state = os.fstat(handle)
        folder = stat.S_ISDIR(state.st_mode)
        fault = self.next_fault("sync of a folder" if folder else "sync")
        if fault in ("full", "error"):
            self.failed = True
            if not folder:  # half of it was written
                os.ftruncate(handle, state.st_size // 2)
            raise OSError(errno.ENOSPC if fault == "full" else errno.EIO, "No space left on device")
        if fault is not None and fault != "busy":
            self.kill(power_cut=fault == "cut")
            raise Killed
        name = self._inside(Path(f"/proc/self/fd/{handle}").readlink())
        if folder and name is not None:
            names = self.platter.unsynced_names
            names -= {one for one in names if one.parent == name}
        elif name is not None:
            self.platter.synced.add(name)

    def replace(self, source: Any, target: Any, **options: Any) -> None:
        fault = self.next_fault("rename")
        if fault in ("kill", "torn", "cut"):
            self.kill(power_cut=fault == "cut")
            raise Killed
        _REAL_REPLACE(source, target, **options)
        before, after = self._inside(source), self._inside(target)
        if after is not None and not self.dead:
            synced = self.platter.synced
            (synced.add if before in synced else synced.discard)(after)
            self.platter.unsynced_names.add(after)
        if fault == "kill after":
            self.kill()
            raise Killed

    def mkdir(self, path: Any, *args: Any, **options: Any) -> None:
        _REAL_MKDIR(path, *args, **options)
        name = self._inside(path)
        if name is not None and name != Path() and not self.dead:
            self.platter.unsynced_names.add(name)

    def _inside(self, path: Any) -> Path | None:
        """The path inside the run; None: it is elsewhere."""
        return Path(path).relative_to(self.root) if Path(path).is_relative_to(self.root) else None

    @contextmanager
    def mounted(self) -> Iterator[None]:
        """Everything this process writes goes through here."""

        class Connection(sqlite3.Connection):
            def execute(_, sql: str, *parameters: Any) -> sqlite3.Cursor:
                return self._executed(sql, lambda: super(Connection, _).execute(sql, *parameters))

            def executescript(_, sql: str) -> sqlite3.Cursor:
                return self._executed("script", lambda: super(Connection, _).executescript(sql))

        def connect(database: Any, *args: Any, **options: Any) -> sqlite3.Connection:
            writes = str(database).startswith(self.root.as_uri()) and "mode=ro" not in str(database)
            kind = Connection if writes else sqlite3.Connection
            return _REAL_CONNECT(database, *args, factory=kind, **options)

        with (
            patch.object(sqlite3, "connect", connect),
            patch.object(os, "fsync", self.fsync),
            patch.object(os, "replace", self.replace),
            patch.object(os, "mkdir", self.mkdir),
        ):
            yield

    def _executed(self, sql: str, execute: Callable[[], sqlite3.Cursor]) -> sqlite3.Cursor:
        word = sql.split(maxsplit=1)[0]
        if word not in ("begin", "insert", "commit", "script", "update", "delete"):
            return execute()
        fault = self.next_fault(word)
        if fault == "kill":
            self.kill()
            raise Killed
        if fault in ("full", "error", "busy"):
            self.failed = True
            if word == "commit" and fault == "error":  # reported as failed, and yet on the disk
                execute()
            raise sqlite3.OperationalError(_MESSAGES[fault])
        before = _size(self.root / "run.sqlite-wal")
        result = execute()
        if fault is not None:
            self.kill(torn=before if fault == "torn" and word == "commit" else None, power_cut=fault == "cut")
            raise Killed
        return result


_MESSAGES = {"full": "database or disk is full", "error": "disk I/O error", "busy": "database is locked"}


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _cut(path: Path, least: int, randomness: random.Random) -> None:
    """Leave only the first bytes of a file: at least so many."""
    size = _size(path)
    if size > least:
        os.truncate(path, randomness.randrange(least, size))
