"""`cbench` inside this process: what `main` does with a command, without the second that a new process takes."""

from __future__ import annotations

import io
import signal
import sys
import threading
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

from convergebench.cli.main import main
from convergebench.store.run import OPENED


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def cbench(*words: object) -> Done:
    """Run a command; an exception that is not the end of the program comes through to the caller."""
    OPENED.clear()
    out, err = io.StringIO(), io.StringIO()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    hook = threading.excepthook
    code: object = None
    try:
        with mock.patch.object(sys, "argv", ["cbench", *map(str, words)]), redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code
    finally:
        threading.excepthook = hook
        for number, handler in before.items():
            signal.signal(number, handler)
    return Done(code if isinstance(code, int) else int(code is not None), out.getvalue(), err.getvalue())
