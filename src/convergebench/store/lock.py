"""One writer per run: advisory locks, which the operating system releases when their process ends.

Two things are locked: the run directory itself, which cannot be removed without removing the run, and `run.lock`, which
names the holder and is all that network file systems can lock. After locking, both paths must still lead to the locked
files, since a lock on a removed file excludes nobody.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import socket
import stat
from pathlib import Path

from convergebench.errors import RunLocked, StudyError

BUSY = (errno.EWOULDBLOCK, errno.EAGAIN)
"""The errors of a lock that another process holds; all others are faults of the file system."""
_TRIES = 100
_LONGEST_NAME = 200


class RunLock:
    """Held from `acquire` to `release`. `path` is the lock file; its folder is locked with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folder: int | None = None
        self._file: int | None = None
        self._folder_is_locked = False

    def acquire(self) -> None:
        """Take the lock; `RunLocked` names the holder."""
        for _ in range(_TRIES):
            try:
                self._take()
            except BaseException:
                self._close()
                raise
            if self._leads_here(self.path.parent, self._folder) and self._leads_here(self.path, self._file):
                return
            self._close()  # one of them was replaced between opening and locking
        raise StudyError(f"{self.path} keeps being replaced; let no other program write to {self.path.parent}")

    def _take(self) -> None:
        self._folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._folder_is_locked = True
        except OSError as error:
            if error.errno in BUSY:
                raise self._locked() from error
            # network file systems lock files only: then only `run.lock` is held, and `require_held` checks it
            self._folder_is_locked = False
        self._file = _open_plain(self.path)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in BUSY:
                raise self._locked() from error
            raise StudyError(
                f"{self.path.parent} cannot be locked: {error.strerror or error} "
                f"({errno.errorcode.get(error.errno or 0, error.errno)}); no other process is writing it, but its "
                f"file system does not support locks. Use a --run on a local disk, or mount this one with locks"
            ) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)

    def require_held(self) -> None:
        """Raise if going on could mix with another writer: the run was moved away, or its only lock removed."""
        folder = self.path.parent
        if not self._leads_here(folder, self._folder):
            now = self.folder_now()
            where = f"continue with the same command and --run {now}" if now else "continue with it where it is now"
            raise StudyError(f"{folder} was moved or removed while it was being written; {where}")
        if not self._folder_is_locked and not self._leads_here(self.path, self._file):
            raise StudyError(
                f"{self.path} was removed while {folder} was being written, so another process could have written to "
                f"it; what was stored is safe. Run the same command again"
            )

    def folder_now(self) -> Path | None:
        """The current path of the locked directory; None if the system cannot tell."""
        if self._leads_here(self.path.parent, self._folder):
            return self.path.parent
        try:
            if hasattr(fcntl, "F_GETPATH"):  # macOS
                path = fcntl.fcntl(self._folder or 0, fcntl.F_GETPATH, bytes(1024))
                found = Path(os.fsdecode(path.rstrip(b"\0")))
            else:
                found = Path(f"/proc/self/fd/{self._folder}").readlink()
        except OSError:
            return None
        return found if self._leads_here(found, self._folder) else None

    @staticmethod
    def _leads_here(path: Path, handle: int | None) -> bool:
        try:
            return handle is not None and os.path.samestat(path.stat(), os.fstat(handle))
        except OSError:
            return False

    def _locked(self) -> RunLocked:
        return RunLocked(
            f"{self.path.parent} is being written by {_holder(self.path)}; wait for it, stop it, or use another --run"
        )

    def release(self) -> None:
        """Release both locks."""
        if self._file is not None:
            os.ftruncate(self._file, 0)
        self._close()

    def _close(self) -> None:
        for handle in (self._file, self._folder):
            if handle is not None:
                os.close(handle)
        self._file = self._folder = None


def require_unlocked(root: Path) -> None:
    """Raise if another process is writing this run. Creates no file, so the run may be read-only."""
    for path in (root, root / "run.lock"):
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in BUSY:
                raise RunLocked(f"{root} is being written by {_holder(root / 'run.lock')}; wait for it") from error
        finally:
            os.close(handle)


def is_being_written(root: Path) -> bool:
    """Whether a process holds the run. A lock is tried only where one may be held, so that no writer is kept out."""
    holder = _holder(root / "run.lock")
    found = re.fullmatch(r"process (\d{1,10}) on (.*)", holder)
    if found is None or (found[2] == socket.gethostname() and not _is_running(int(found[1]))):
        return False
    try:
        require_unlocked(root)
    except RunLocked:
        return True
    return False


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # of another user
        return True
    return True


def _open_plain(path: Path) -> int:
    """The lock file, made if need be; what a link leads to is not ours to write into."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise StudyError(f"{path} is not a plain file; remove it, then run the same command again") from error
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise StudyError(f"{path} is not a plain file; remove it, then run the same command again")
    return handle


def _holder(path: Path) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return "another process"
    try:
        name = os.read(handle, _LONGEST_NAME).decode("utf-8", "replace")
    except OSError:
        name = ""
    finally:
        os.close(handle)
    return " ".join(name.split()) or "another process"
