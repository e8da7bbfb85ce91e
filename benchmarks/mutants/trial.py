"""One fault in a private copy of the repository, and the tests against it."""

from __future__ import annotations

import io
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import cv2
import hypothesis
import numpy
import PIL.Image
import polars
import pydantic
import pytest
import scipy.stats

import tests.conftest

LOADED = (cv2, hypothesis, numpy, PIL.Image, polars, pydantic, scipy.stats, tests.conftest)
"""Loaded once: every trial is a fork of this process, which spares it two seconds. The last sets the environment, where
it finds weights beside the checkout and not beside a copy of it."""

_PYTEST = (
    *("-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--hypothesis-profile=unhurried"),
    *("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"),
)
hypothesis.settings.register_profile("unhurried", deadline=None)  # a busy machine is no fault of the code
_COPIED = ("src", "tests", "docs", "benchmarks", "training", "studies")
_OURS = ("convergebench", "tests", "docs", "benchmarks", "training")
PASSED, FAILED, NO_TESTS, TOO_LONG = 0, 1, 5, -1


class Copy:
    """A copy of the working tree in which files may be broken."""

    def __init__(self, root: Path) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-")
        self.root = Path(self._folder.name) / root.name
        self.root.mkdir()
        skip = shutil.ignore_patterns("__pycache__", "*.pyc")
        for path in root.iterdir():
            if path.name in _COPIED:
                shutil.copytree(path, self.root / path.name, ignore=skip)
            elif path.is_file():
                shutil.copy2(path, self.root)

    def close(self) -> None:
        """Remove it."""
        self._folder.cleanup()

    def tested(self, words: list[str], seconds: float) -> tuple[int, float, str]:
        """How these tests end, after how long, and what they said; `TOO_LONG` where they had to be stopped."""
        said = self.root.parent / "said.txt"
        said.unlink(missing_ok=True)
        begun = time.monotonic()
        process = multiprocessing.get_context("fork").Process(target=self._child, args=(words, said))
        process.start()
        process.join(seconds)
        if process.is_alive():
            os.killpg(process.pid or 0, signal.SIGKILL)  # what its tests have started, too
            process.join()
            return TOO_LONG, time.monotonic() - begun, ""
        if process.exitcode == FAILED and not said.exists():
            raise RuntimeError("pytest itself has failed, see above; that says nothing about the fault")
        text = said.read_text(encoding="utf-8") if said.exists() else ""
        return process.exitcode or 0, time.monotonic() - begun, text

    def _child(self, words: list[str], said: Path) -> None:
        os.setsid()
        os.chdir(self.root)
        os.environ |= {"PYTHONPATH": str(self.root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(self.root / "src"), str(self.root)]
        for name in [name for name in sys.modules if name.split(".")[0] in _OURS]:
            del sys.modules[name]
        spoken = io.StringIO()
        with redirect_stdout(spoken), redirect_stderr(spoken):
            code = pytest.main([*_PYTEST, f"--basetemp={self.root.parent / 'tmp'}", *words])
        said.write_text(spoken.getvalue(), encoding="utf-8")
        os._exit(int(code))
