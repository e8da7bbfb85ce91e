"""Calls that work anywhere: in a script, under a running event loop (a notebook), and as coroutines."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from types import FrameType
from typing import Any, Generic, TypeVar

from convergebench.errors import Interrupted, StudyError
from convergebench.processes import AWAKE
from convergebench.registry import suggest
from convergebench.stopping import StopSignal
from convergebench.store.manifest import PYTHON_CALL

T = TypeVar("T")


def call(work: Callable[[], T]) -> T:
    """What `work` gives; where an event loop is running here, it works in a thread of its own.

    Ctrl-C lets the calls in flight finish; a second one leaves them.
    """
    if not _loop_is_running():
        return _as_interrupt(work)
    stop, found = StopSignal(), _Found[T]()
    thread = threading.Thread(target=copy_context().run, args=(found.take, stop, work), daemon=True)
    with _signalling(stop):
        thread.start()
        while thread.is_alive():
            thread.join(AWAKE)
    return _as_interrupt(found.give)


@contextmanager
def _signalling(stop: StopSignal) -> Iterator[None]:
    """Inside, Ctrl-C asks the work in the other thread to stop; only the main thread can listen to it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        stop.request()
        if stop.requests > 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def call_async(work: Callable[[], T]) -> T:
    """What `work` gives, done in a thread; cancelling lets the calls in flight finish first."""
    stop, found = StopSignal(), _Found[T]()
    task = asyncio.ensure_future(asyncio.to_thread(found.take, stop, work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.request()
        await task
        raise
    return _as_interrupt(found.give)


class _Found(Generic[T]):
    """The result of work in another thread, or what it raised."""

    def __init__(self) -> None:
        self._result: T | None = None
        self._error: BaseException | None = None

    def take(self, stop: StopSignal, work: Callable[[], T]) -> None:
        try:
            with stop.current():
                self._result = work()
        except BaseException as error:
            self._error = error

    def give(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _as_interrupt(work: Callable[[], T]) -> T:
    try:
        return work()
    except Interrupted as error:
        raise KeyboardInterrupt("stopped; make the same call to continue") from error


def recorded(name: str, given: Mapping[str, Any], work: Callable[[], T]) -> Callable[[], T]:
    """`work`, with this call written into the manifests of the runs that it changes."""
    shown = ", ".join(f"{key}={_shown(value)}" for key, value in given.items() if _is_given(value))

    def with_call() -> T:
        token = PYTHON_CALL.set(f"convergebench.{name}({shown})")
        try:
            return work()
        finally:
            PYTHON_CALL.reset(token)

    return with_call


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, tuple | dict) and not value)


def _shown(value: Any) -> str:
    if isinstance(value, str | int | float | bool):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_shown, value[:8]))}{', …' if len(value) > 8 else ''}]"
    return getattr(value, "__name__", None) or f"<{type(value).__name__}>"


def several(values: Any, what: str) -> tuple[Any, ...]:
    """Values that a caller gave one by one or in a list; a text or a path is one value."""
    if values is None:
        return ()
    if isinstance(values, str | Path):
        return (values,)
    if not isinstance(values, Iterable):
        raise StudyError(f"{what} = {values!r:.80}: give one, or a list of them")
    return tuple(values)


def metric_names(values: Any, what: str) -> tuple[str, ...]:
    """Names of metrics; a function that stands among them is given one."""
    from convergebench.metrics.functions import give

    given = (values,) if callable(values) else several(values, what)
    return tuple(give(one) if callable(one) else one for one in given)


def options_of(kind: type[T], given: Mapping[str, Any], where: str, also: Iterable[str] = ()) -> T:
    """Options from keywords; one that there is not is an error that names the closest, of these and of `also`."""
    known = list(getattr(kind, "__dataclass_fields__", ()))
    for name in given:
        if name not in known:
            raise StudyError(f"{where} has no option '{name}'{suggest(name, (*known, *also))}")
    return kind(**given)
