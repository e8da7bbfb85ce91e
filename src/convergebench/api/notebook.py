"""What a caller from Python sees while a run works: a live line in a notebook, log records elsewhere."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from html import escape
from typing import Any

from convergebench.conductor.observer import Observer
from convergebench.progress import Pace, Progress, progress_line
from convergebench.redaction import redact
from convergebench.texts import one_line

LOG = logging.getLogger("convergebench")
EVERY = 0.5
"""Seconds between two updates of the live line."""


def default_observer(progress: bool | Observer) -> Observer:
    """The caller's own; else a live line where this is a notebook and progress is asked for, or log records."""
    if isinstance(progress, Observer):
        return progress
    return NotebookObserver() if progress and in_notebook() else LogObserver()


class LogObserver(Observer):
    """Remarks as warnings and results as information of the logger `convergebench`."""

    def say(self, line: str) -> None:
        """One record of the level INFO."""
        LOG.info("%s", redact(one_line(line)))

    def note(self, line: str) -> None:
        """One record of the level WARNING."""
        LOG.warning("%s", redact(one_line(line)))


class NotebookObserver(LogObserver):
    """Shows the counters of the running stage below the cell, without widgets."""

    def watch(self, stage: str, progress: Progress, *, unit: str, of: str = "chains") -> AbstractContextManager[object]:
        """A line that is updated until the stage ends, and stays."""
        try:
            from IPython.display import display
        except ImportError:
            return nullcontext()
        return _live(display, stage, progress, unit, of)


@contextmanager
def _live(display: Any, stage: str, progress: Progress, unit: str, of: str) -> Iterator[None]:
    begun, ended, pace = time.monotonic(), threading.Event(), Pace(progress)

    def line() -> _Line:
        return _Line(progress_line(stage, progress, unit, time.monotonic() - begun, of, pace), progress)

    handle = display(line(), display_id=True)

    def update() -> None:
        while not ended.wait(EVERY):
            handle.update(line())

    thread = threading.Thread(target=update, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        handle.update(line())


class _Line:
    """One line of progress, with a bar where HTML can be shown."""

    def __init__(self, text: str, progress: Progress) -> None:
        self.text, self.done, self.all = one_line(text), progress.steps_done, max(1, progress.steps)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<progress value="{self.done}" max="{self.all}"></progress> <code>{escape(self.text)}</code>'


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel: the only shell whose output can be updated."""
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
