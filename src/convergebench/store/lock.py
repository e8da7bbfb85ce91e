"""One writer per run: an advisory lock that the system drops when its process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path
from typing import IO

from convergebench.errors import RunLocked


class RunLock:
    """Held from `acquire` to `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Take the lock, or say who has it."""
        file = self.path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            holder = file.read().strip() or "another process"
            file.close()
            raise RunLocked(
                f"{self.path.parent} is being written by {holder}; wait for it, stop it, or use another --run"
            ) from error
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        self._file = file

    def release(self) -> None:
        """Let others write."""
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None
