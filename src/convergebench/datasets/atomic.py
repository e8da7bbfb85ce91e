"""A folder that is there as a whole or not at all: made beside its final place, then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from convergebench.errors import RunLocked, StudyError
from convergebench.store.lock import RunLock

PLAN = "plan"
"""The file beside the folder in the making that says what is being made."""
WRITING = ".writing"
"""How a file's name ends while it is not whole."""


@contextmanager
def whole_folder(out: Path, plan: str = "") -> Iterator[Path]:
    """A folder to write into; it becomes `out` when all went well, and is gone when something was wrong.

    What an interrupted or killed process left behind is handed out again if it was made for the same plan, and cleared
    away if not; without a plan nothing is ever handed out again.
    """
    require_free(out)
    out = out.resolve()  # a link stays one, and what it leads to becomes the folder
    out.parent.mkdir(parents=True, exist_ok=True)
    making, lock = _left_behind(out, plan) or _begun(out, plan)
    try:
        inside = making / out.name
        inside.mkdir(exist_ok=True)
        yield inside
        require_free(out)
        inside.replace(out)
        shutil.rmtree(making, ignore_errors=True)
    except Exception:
        shutil.rmtree(making, ignore_errors=True)
        raise
    finally:
        lock.release()


def require_free(out: Path) -> None:
    """Nothing is ever written over."""
    if out.exists() and not out.is_dir():
        raise StudyError(f"--out {out} is a file; name a new folder")
    if out.is_dir() and any(out.iterdir()):
        raise StudyError(f"--out {out} is not empty; name a new folder")
    if out.resolve() == Path.cwd():  # it would be replaced under the feet of whoever stands in it
        raise StudyError(f"--out {out} is the folder you are in; name a new one")


def _begun(out: Path, plan: str) -> tuple[Path, RunLock]:
    making = out.parent / f".{out.name}.part-{os.getpid()}"
    making.mkdir()
    lock = RunLock(making / "lock")
    lock.acquire()
    (making / PLAN).write_text(plan, encoding="utf-8")
    return making, lock


def _left_behind(out: Path, plan: str) -> tuple[Path, RunLock] | None:
    """A folder that was begun for the same plan and nobody writes; all others that nobody writes are removed."""
    found: tuple[Path, RunLock] | None = None
    for left in sorted(out.parent.glob(f".{_escaped(out.name)}.part-*")):
        lock = RunLock(left / "lock")
        try:
            lock.acquire()
        except RunLocked as error:
            raise StudyError(f"another command is writing {out}; wait for it or name another --out") from error
        except OSError:  # it ended between our look and our grasp
            continue
        if found is None and plan and _plan_of(left) == plan:
            found = left, lock
            for path in left.rglob(f".*{WRITING}"):
                path.unlink()
            continue
        shutil.rmtree(left, ignore_errors=True)
        lock.release()
    return found


def _plan_of(left: Path) -> str | None:
    try:
        return (left / PLAN).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _escaped(name: str) -> str:
    from glob import escape

    return escape(name)
