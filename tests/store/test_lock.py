"""One writer per run, whatever becomes of the lock file; and a run that is moved while it is written."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from convergebench.errors import RunLocked, StudyError
from convergebench.store.lock import RunLock, require_unlocked
from convergebench.store.run import Run
from tests.engine.parts import CountingEditor, query, walk

HOLD = """
import sys
from pathlib import Path
from convergebench.store.lock import RunLock
lock = RunLock(Path(sys.argv[1]) / "run.lock")
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another_process(root: Path) -> Iterator[int]:
    command = [sys.executable, "-c", HOLD, str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process.pid
        process.communicate()


def test_removing_or_replacing_the_lock_file_lets_no_second_writer_in(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    with held_by_another_process(tmp_path) as pid:
        with pytest.raises(RunLocked, match=f"process {pid} on "):
            RunLock(path).acquire()
        path.unlink()
        with pytest.raises(RunLocked, match="another process"):
            RunLock(path).acquire()
        path.write_text("somebody else")
        with pytest.raises(RunLocked):
            Run.create(tmp_path)
        with pytest.raises(RunLocked):
            require_unlocked(tmp_path)
    lock = RunLock(path)
    lock.acquire()
    lock.release()
    require_unlocked(tmp_path)


def test_a_writer_of_an_older_version_which_locks_the_file_alone_keeps_others_out(tmp_path: Path) -> None:
    with (tmp_path / "run.lock").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(RunLocked):
            RunLock(tmp_path / "run.lock").acquire()
        with pytest.raises(RunLocked):
            require_unlocked(tmp_path)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL])
def test_a_file_system_without_locks_is_said_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def unsupported(handle: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with pytest.raises(StudyError, match=errno.errorcode[number]) as caught:
        RunLock(tmp_path / "run.lock").acquire()
    assert not isinstance(caught.value, RunLocked)
    assert "does not support locks" in str(caught.value)
    assert "local disk" in str(caught.value)


def test_where_only_files_can_be_locked_a_removed_lock_stops_its_holder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock

    def files_only(handle: int, operation: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{handle}"):  # noqa: PTH112
            raise OSError(errno.EBADF, "Bad file descriptor")
        real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", files_only)
    lock = RunLock(tmp_path / "run.lock")
    lock.acquire()
    with pytest.raises(RunLocked):
        RunLock(tmp_path / "run.lock").acquire()
    lock.require_held()
    (tmp_path / "run.lock").unlink()
    with pytest.raises(StudyError, match="was removed while"):
        lock.require_held()
    lock.release()


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_a_lock_that_is_no_plain_file_is_refused_and_what_a_link_leads_to_stays(tmp_path: Path, kind: str) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    root = tmp_path / "run"
    root.mkdir()
    lock = root / "run.lock"
    if kind == "link":
        lock.symlink_to(precious)
    elif kind == "folder":
        lock.mkdir()
    else:
        os.mkfifo(lock)
    with pytest.raises(StudyError, match="not a plain file; remove it"):
        RunLock(lock).acquire()
    assert precious.read_text() == "mine"


def test_a_run_that_is_moved_while_it_is_written_stops_and_loses_nothing(tmp_path: Path) -> None:
    root, moved = tmp_path / "run", tmp_path / "moved"
    calls = []

    def move(request: object) -> None:
        calls.append(request)
        if len(calls) == 6:
            root.rename(moved)

    editor = CountingEditor(dollars=0.04, before=move)
    with pytest.raises(StudyError, match=f"was moved or removed .* --run {moved}"):
        walk(root, editor, virtual=False)
    assert not root.exists(), "nothing is written where the run no longer is"
    ((dollars,),) = query(moved, "select sum(dollars) from attempts")
    assert dollars == pytest.approx(0.04 * editor.calls), "every call that was made is counted"
    ((steps,),) = query(moved, "select count(*) from steps")
    assert steps == editor.calls, "and its picture is there"
    again = CountingEditor(dollars=0.04)
    walk(moved, again, virtual=False)
    assert again.calls == 4 * 10 - editor.calls
