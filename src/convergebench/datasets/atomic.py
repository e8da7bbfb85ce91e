"""A folder that is there as a whole or not at all: made beside its final place, then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from convergebench.errors import RunLocked, StudyError
from convergebench.store.lock import RunLock


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A folder to write into; it becomes `out` when all went well, and is gone when not.

    What a killed process left behind is cleared away by the next one that writes to the same place.
    """
    require_free(out)
    out = out.resolve()  # a link stays one, and what it leads to becomes the folder
    out.parent.mkdir(parents=True, exist_ok=True)
    _clear(out)
    making = out.parent / f".{out.name}.part-{os.getpid()}"
    making.mkdir()
    lock = RunLock(making / "lock")
    lock.acquire()
    try:
        inside = making / out.name
        inside.mkdir()
        yield inside
        require_free(out)
        inside.replace(out)
    finally:
        shutil.rmtree(making, ignore_errors=True)
        lock.release()


def require_free(out: Path) -> None:
    """Nothing is ever written over."""
    if out.exists() and not out.is_dir():
        raise StudyError(f"--out {out} is a file; name a new folder")
    if out.is_dir() and any(out.iterdir()):
        raise StudyError(f"--out {out} is not empty; name a new folder")
    if out.resolve() == Path.cwd():  # it would be replaced under the feet of whoever stands in it
        raise StudyError(f"--out {out} is the folder you are in; name a new one")


def _clear(out: Path) -> None:
    for left in out.parent.glob(f".{out.name}.part-*"):
        lock = RunLock(left / "lock")
        try:
            lock.acquire()
        except RunLocked as error:
            raise StudyError(f"another export to {out} is under way; wait for it or name another --out") from error
        except OSError:  # it ended between our look and our grasp
            continue
        shutil.rmtree(left, ignore_errors=True)
        lock.release()
