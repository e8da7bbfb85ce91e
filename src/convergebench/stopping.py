"""Requests to stop work that runs in another thread, where no signal arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from convergebench.errors import Interrupted


class StopSignal:
    """Set by one thread, obeyed by the work of another."""

    def __init__(self) -> None:
        self.requests = 0
        self._listener: Callable[[], None] | None = None

    def request(self) -> None:
        """Ask the work to stop; a listener decides what that means while it listens."""
        self.requests += 1
        if self._listener is not None:
            self._listener()

    @contextmanager
    def listening(self, listener: Callable[[], None]) -> Iterator[None]:
        """Inside, every request calls `listener`, one that came before included."""
        self._listener = listener
        try:
            if self.requests:
                listener()
            yield
        finally:
            self._listener = None

    @contextmanager
    def current(self) -> Iterator[None]:
        """Inside, this is the signal that `current_signal` gives."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)


_CURRENT: ContextVar[StopSignal | None] = ContextVar("stop_signal", default=None)


def current_signal() -> StopSignal | None:
    """The signal of the work that runs here, or None where the process's own signals arrive."""
    return _CURRENT.get()


def check_stop() -> None:
    """Raise `Interrupted` if this work was asked to stop."""
    signal = _CURRENT.get()
    if signal is not None and signal.requests:
        raise Interrupted
