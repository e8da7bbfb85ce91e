"""Calls into foreign code: whatever a plug-in raises becomes an error that can be journalled.

A plug-in may raise anything, also what is no `Exception`. A call that ends so may have been charged.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager

from convergebench.errors import ConvergeBenchError, EditorError, Interrupted, Prerequisite, Transient


@contextmanager
def foreign_code(*passing: type[ConvergeBenchError]) -> Iterator[None]:
    """Whatever is raised inside becomes an `EditorError`, but for `Prerequisite`, `passing` and our own wish to end."""
    ours: tuple[type[BaseException], ...] = (Prerequisite, *passing, Interrupted, KeyboardInterrupt, GeneratorExit)
    try:
        yield
    except ours:
        raise
    except EditorError as error:
        _mend(error)
        raise
    except TimeoutError as error:
        raise Transient(said(error), unsettled=True) from error
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _being_cancelled():
            raise
        raise EditorError(said(error), unsettled=True) from error


def said(error: BaseException) -> str:
    """The error with its kind."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:  # it cannot even be told
        return f"{kind} without a message that can be read"
    return f"{kind}: {text}" if text else kind


def _mend(error: EditorError) -> None:
    """Its message can be read, and its wish for a pause is a number of seconds."""
    try:
        str(error)
    except Exception as reason:
        raise EditorError(said(error), dollars=error.dollars, unsettled=error.unsettled) from reason
    if isinstance(error, Transient) and not _is_pause(error.retry_after):
        error.retry_after = None


def _is_pause(seconds: object) -> bool:
    return isinstance(seconds, float | int) and abs(seconds) <= 1e9 and math.isfinite(seconds)


def _being_cancelled() -> bool:
    """Whether this task is told to end; a plug-in can raise `CancelledError` without that."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
