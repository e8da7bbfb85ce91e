"""Standard output and error that are closed, full or read by nobody: one line at most, never a traceback."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import IO, NoReturn

from convergebench.texts import one_line


def open_closed_streams() -> None:
    """Give closed standard streams a place that leads nowhere: the next file that is opened would get their number."""
    shut = [number for number in (0, 1, 2) if not _is_open(number)]
    for _ in shut:
        os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is the closed one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 as long as the process
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 as long as the process
    elif 1 in shut:
        with suppress(OSError):  # stderr may be full; the work is done all the same
            sys.stderr.write("standard output is closed; the command runs and prints nothing\n")


def leave(code: object, line: str = "") -> NoReturn:
    """End with this code after one line on stderr; what cannot be written any more is let go."""
    written = _flushed(sys.stdout)
    if not written and not code:
        code, line = 74, "error: standard output could not be written; the command itself succeeded"
    if line:
        with suppress(OSError, ValueError):
            sys.stderr.write(one_line(line) + "\n")
    _flushed(sys.stderr)
    sys.exit(code)  # type: ignore[arg-type]


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _flushed(stream: IO[str]) -> bool:
    """Whether everything was written; if not, the interpreter shall not try again when it ends, and complain."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        return False
    return True
