"""Calls into foreign code: every exception of a plug-in becomes an error that can be journalled.

A plug-in may raise anything, even a bare `BaseException`. Such a call may have been charged. What an HTTP library says
of a busy server or a broken connection is a passing failure, like those of our own client.

Tracebacks go to the logger `convergebench` at the level DEBUG, without keys: `cbench --debug` shows them.
"""

from __future__ import annotations

import asyncio
import logging
import math
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from convergebench.engine.foreign_http import passing_failure
from convergebench.errors import ConvergeBenchError, EditorError, Interrupted, Prerequisite, Transient
from convergebench.redaction import redact
from convergebench.texts import storable

LOGGER = logging.getLogger("convergebench")


@contextmanager
def foreign_code(*passing: type[ConvergeBenchError]) -> Iterator[None]:
    """Turn exceptions into `EditorError`, except `Prerequisite`, `passing` and those that stop the run."""
    ours: tuple[type[BaseException], ...] = (Prerequisite, *passing, Interrupted, KeyboardInterrupt, GeneratorExit)
    try:
        yield
    except ours:
        raise
    except EditorError as error:
        _normalise(error)
        raise
    except TimeoutError as error:
        raise Transient(describe_error(error), unsettled=True) from error
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _being_cancelled():
            raise
        log_traceback(error)
        failure = passing_failure(error) if isinstance(error, Exception) else None
        if failure is not None:
            raise Transient(
                describe_error(error), retry_after=failure.retry_after, unsettled=failure.unsettled
            ) from error
        raise EditorError(describe_error(error), unsettled=True) from error


def log_traceback(error: BaseException) -> None:
    """Log where foreign code failed; without keys, because logs are passed on."""
    if LOGGER.isEnabledFor(logging.DEBUG):
        try:
            text = "".join(traceback.format_exception(error))
        except Exception:  # its own __str__ fails
            text = "".join(traceback.format_tb(error.__traceback__))
        LOGGER.debug("%s", storable(redact(text).rstrip()))


def describe_error(error: BaseException) -> str:
    """Its class and its message, even if the message cannot be read."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:  # its own __str__ fails
        return f"{kind} without a readable message"
    return f"{kind}: {text}" if text else kind


def _normalise(error: EditorError) -> None:
    """Afterwards its message can be read, and the pause it asks for is a number of seconds."""
    try:
        str(error)
    except Exception as reason:
        raise EditorError(describe_error(error), dollars=error.dollars, unsettled=error.unsettled) from reason
    if isinstance(error, Transient) and not _is_pause(error.retry_after):
        error.retry_after = None


def _is_pause(seconds: object) -> bool:
    return isinstance(seconds, float | int) and abs(seconds) <= 1e9 and math.isfinite(seconds)


def _being_cancelled() -> bool:
    """Whether this task is really cancelled; a plug-in can raise `CancelledError` without that."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
