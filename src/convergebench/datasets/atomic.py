"""Writing a folder atomically: it is made beside its final path, then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from convergebench.errors import RunLocked, StudyError
from convergebench.store.lock import RunLock

PLAN = "plan"
"""The file beside the unfinished folder that identifies what is being written."""
WRITING = ".writing"
"""Suffix of a file that is still being written."""


@contextmanager
def whole_folder(out: Path, plan: str = "", *, flag: str = "--out") -> Iterator[Path]:
    """A folder to write into; it becomes `out` on success and is removed on an error.

    What an interrupted or killed process left behind is continued if it was made for the same plan, else removed;
    without a plan nothing is continued.
    """
    require_free(out, flag)
    out = out.resolve()  # a link is kept, and its target becomes the folder
    out.parent.mkdir(parents=True, exist_ok=True)
    making, lock = _left_behind(out, plan) or _new_folder(out, plan)
    try:
        inside = making / out.name
        inside.mkdir(exist_ok=True)
        yield inside
        require_free(out, flag)
        inside.replace(out)
        shutil.rmtree(making, ignore_errors=True)
    except Exception:
        shutil.rmtree(making, ignore_errors=True)
        raise
    finally:
        lock.release()


def require_free(out: Path, flag: str = "--out") -> None:
    """`StudyError` unless `out` is new or empty: nothing is overwritten."""
    if out.exists() and not out.is_dir():
        raise StudyError(f"{flag} {out} is a file; name a new folder")
    if out.is_dir() and any(out.iterdir()):
        raise StudyError(f"{flag} {out} is not empty; name a new folder")
    if out.resolve() == Path.cwd():  # replacing it would leave the shell in a removed folder
        raise StudyError(f"{flag} {out} is the folder you are in; name a new one")


def _new_folder(out: Path, plan: str) -> tuple[Path, RunLock]:
    making = out.parent / f".{out.name}.part-{os.getpid()}"
    making.mkdir()
    lock = RunLock(making / "lock")
    lock.acquire()
    (making / PLAN).write_text(plan, encoding="utf-8")
    return making, lock


def _left_behind(out: Path, plan: str) -> tuple[Path, RunLock] | None:
    """An abandoned folder of the same plan; other abandoned folders are removed."""
    found: tuple[Path, RunLock] | None = None
    for left in sorted(out.parent.glob(f".{escape(out.name)}.part-*")):
        lock = RunLock(left / "lock")
        try:
            lock.acquire()
        except RunLocked as error:
            raise StudyError(f"another command is writing {out}; wait for it or name another --out") from error
        except OSError:  # it was removed meanwhile
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
