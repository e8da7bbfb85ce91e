"""Images on their way to the store: a queue, a few threads, and patience. Nobody who stores an image waits for it.

A file is in the folder before it is queued, and a list of what was uploaded (`uploads.sqlite`) is kept beside it. The
list may be lost or be behind: then a file is uploaded twice, which changes nothing.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from convergebench.store.images import DamagedImage, identity_of, read_here
from convergebench.store.remote.files import RemoteFiles, StoreError

FILE = "uploads.sqlite"
AT_ONCE = 6
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 20.0
_AT_A_TIME = 64


class UploadedFiles:
    """Which files are surely at the store. Safe to call from any thread of the process that writes the run."""

    def __init__(self, root: Path) -> None:
        self._path, self._lock = root / FILE, threading.Lock()
        self._waiting = 0
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError:  # spoilt by a power cut: everything is uploaded once more
            self._path.unlink(missing_ok=True)
            self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, check_same_thread=False)
        connection.execute("pragma synchronous = off")
        connection.execute("create table if not exists uploaded (file text primary key) without rowid")
        connection.execute("select count(*) from uploaded").fetchone()
        return connection

    def add(self, file: str) -> None:
        """A file is at the store."""
        with self._lock:
            self._connection.execute("insert or ignore into uploaded values (?)", (file,))
            self._waiting += 1
            if self._waiting >= _AT_A_TIME:
                self._connection.commit()
                self._waiting = 0

    def discard(self, file: str) -> None:
        """A file is not at the store, or not as it should be."""
        with self._lock:
            self._connection.execute("delete from uploaded where file = ?", (file,))
            self._connection.commit()

    def __contains__(self, file: str) -> bool:
        with self._lock:
            return bool(self._connection.execute("select 1 from uploaded where file = ?", (file,)).fetchone())

    def all(self) -> set[str]:
        """Every file."""
        with self._lock:
            return {file for (file,) in self._connection.execute("select file from uploaded")}

    def close(self) -> None:
        """Write what is not written yet."""
        with self._lock:
            self._connection.commit()
            self._connection.close()


class Uploader:
    """The queue of one run. `failing_since` is when the store last stopped answering; None while it answers."""

    def __init__(self, root: Path, files: RemoteFiles, uploaded: UploadedFiles) -> None:
        self.root, self._files, self.uploaded = root, files, uploaded
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._pending: set[str] = set()
        self._closed = threading.Event()
        self.failing_since: float | None = None
        self.reason = ""
        self.damaged: list[str] = []
        """Files that were not uploaded because they are not what their names say."""
        for number in range(AT_ONCE):
            threading.Thread(target=self._work, name=f"upload-{number}", daemon=True).start()

    def add(self, file: str) -> None:
        """Upload this file when its turn comes, unless the store has it."""
        if file in self.uploaded:
            return
        with self._changed:
            if file in self._pending:
                return
            self._pending.add(file)
        self._queue.put(file)

    def add_left_behind(self) -> None:
        """Everything in the folder that an earlier command could not upload."""
        known = self.uploaded.all()
        for file in image_files(self.root):
            if file not in known:
                self.add(file)

    @property
    def pending(self) -> frozenset[str]:
        """What is not at the store yet."""
        with self._changed:
            return frozenset(self._pending)

    def wait_for(self, files: Collection[str], until: float | None = None) -> bool:
        """Wait until the store has all of these; False when closed, or when the time has come."""
        waiting = set(files)
        with self._changed:
            while waiting := waiting & self._pending:
                if self._closed.is_set() or (until is not None and time.monotonic() >= until):
                    return False
                self._changed.wait(0.5)
        return True

    def told(self, error: StoreError | None) -> None:
        """The store has answered (None), or has not."""
        if error is None:
            self.failing_since = None
        else:
            self.reason = str(error)
            self.failing_since = self.failing_since or time.monotonic()

    def pause(self, seconds: float) -> bool:
        """Wait; False when closed meanwhile."""
        return not self._closed.wait(seconds)

    def _work(self) -> None:
        while (file := self._queue.get()) is not None and not self._closed.is_set():
            pause = FIRST_PAUSE
            while not self._is_done(file) and self.pause(pause):
                pause = min(2 * pause, LONGEST_PAUSE)

    def _is_done(self, file: str) -> bool:
        """Try once; whether it need not be tried again."""
        try:
            self._files.write(file, read_here(self.root, file))
            self.told(None)
            self.uploaded.add(file)
        except StoreError as error:
            self.told(error)
            return False
        except DamagedImage:  # it would be refused by every reader
            self.damaged.append(file)
        except sqlite3.Error:  # the list cannot be written: the file is uploaded once more next time
            pass
        except Exception as error:  # a client library's own fault must not end the thread
            self.told(StoreError(f"{self._files.address.url}: {type(error).__name__}"))
            return False
        with self._changed:
            self._pending.discard(file)
            self._changed.notify_all()
        return True

    def close(self) -> None:
        """End the threads; what was not uploaded stays in the folder."""
        self._closed.set()
        for _ in range(AT_ONCE):
            self._queue.put(None)
        with self._changed:
            self._changed.notify_all()


def image_files(root: Path) -> Iterator[str]:
    """Stored images in the folder, by their names inside the run; unfinished and foreign files are passed over."""
    for folder in sorted((root / "images").glob("[0-9a-f][0-9a-f]")):
        for path in folder.iterdir():
            file = f"images/{folder.name}/{path.name}"
            if identity_of(file) is not None and path.is_file() and not path.is_symlink():
                yield file
