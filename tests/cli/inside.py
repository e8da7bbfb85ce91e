"""`cbench` in this very process: the same `main`, without the seconds that a new interpreter takes to load it all."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import invalidate_caches
from pathlib import Path
from unittest import mock

from convergebench.cli.main import main
from tests.docs.shell import forget_plugins


def run_inside(words: Sequence[str], root: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """What a command of its own process in this folder would say and leave behind."""
    said, beside = io.StringIO(), io.StringIO()
    code: object = 0
    with _as_a_process(root, environment, words), redirect_stdout(said), redirect_stderr(beside):
        try:
            main()
        except SystemExit as end:
            code = end.code
    return subprocess.CompletedProcess(list(words), int(str(code or 0)), said.getvalue(), beside.getvalue())


@contextmanager
def _as_a_process(root: Path, environment: Mapping[str, str], words: Sequence[str]) -> Iterator[None]:
    """Folder, environment, plug-ins, signals: all as a new process would have them, and afterwards as they were."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    hook, before, folder = threading.excepthook, set(sys.modules), Path.cwd()
    added = [str(root), *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        mock.patch.object(sys, "argv", ["cbench", *words]),
        mock.patch.object(sys, "path", [*added, *sys.path]),
        mock.patch.object(
            os, "cpu_count", return_value=1
        ),  # one process: starting others would take longer than the work
        mock.patch("convergebench.redaction._remembered", set()),
    ):
        os.chdir(root)
        invalidate_caches()
        forget_plugins()
        try:
            yield
        finally:
            os.chdir(folder)
            for number, handler in handlers.items():
                signal.signal(number, handler)
            threading.excepthook = hook
            for name in set(sys.modules) - before:
                file = getattr(sys.modules[name], "__file__", None) or ""
                if any(file.startswith(place) for place in added):
                    del sys.modules[name]
            forget_plugins()
