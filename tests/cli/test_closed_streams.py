"""Output that nobody reads: one line at most, an exit code, and never a traceback, also when the interpreter ends."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COMMAND = f"{sys.executable} -m convergebench.cli.main list editors"

ENDINGS = {
    "stdout is closed": (f"{COMMAND} >&-", 0, 1),
    "stdout and stderr are closed": (f"{COMMAND} >&- 2>&-", 0, 0),
    "everything is closed": (f"{COMMAND} <&- >&- 2>&-", 0, 0),
    "stdout is closed and stderr is full": (f"{COMMAND} >&- 2> /dev/full", 0, 0),
    "the reader goes away": (f"{COMMAND} | true; exit ${{PIPESTATUS[0]}}", None, 0),
    "the disk is full": (f"{COMMAND} > /dev/full", None, 1),
    "an error with stderr closed": (f"{COMMAND}s-there-are-none 2>&-", 2, 0),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_closed_full_and_unread_output_is_one_line_at_most(ending: str) -> None:
    script, code, most = ENDINGS[ending]
    if "/dev/full" in script and not os.path.exists("/dev/full"):  # noqa: PTH110
        pytest.skip("this system has no full device")
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stderr.count("\n") <= most, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    if code is not None:
        assert done.returncode == code
    elif "full" in ending:
        assert done.returncode != 0, "what was asked for was not shown"
