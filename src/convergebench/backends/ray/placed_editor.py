"""An editor whose calls are carried out by copies of it on the machines of a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, TypeVar

from convergebench.backends.ray.crew import CopyLost, Crew, Overdue
from convergebench.backends.ray.worker import Failure
from convergebench.editors.base import PROCESSOR, notices
from convergebench.errors import Prerequisite, Transient, WorkerLost
from convergebench.processes import waited_for
from convergebench.types import Edited, Editor, EditRequest

UNTIMED = 30 * 24 * 3600.0
"""Time limit that the engine keeps: the crew has the editor's own, from the moment a copy takes the call."""

T = TypeVar("T")


class PlacedEditor:
    """The same editor to the engine: name, fingerprint and capabilities; its limits grow with its copies."""

    def __init__(self, editor: Editor, crew: Crew, loop: asyncio.AbstractEventLoop) -> None:
        self.name, self.fingerprint, self.capabilities = editor.name, editor.fingerprint, editor.capabilities
        self.weights = getattr(editor, "weights", ())
        self.crew = crew
        self.capacity = CrewCapacity(crew, loop)
        self._editor, self._loop = editor, loop
        self._seconds = editor.limits.seconds
        # cores are given out by the cluster, not by this machine
        account = "" if editor.limits.account == PROCESSOR else editor.limits.account
        together = None if editor.limits.account == PROCESSOR else editor.limits.together
        self.limits = replace(editor.limits, at_once=crew.calls, seconds=UNTIMED, account=account, together=together)

    def lacks(self) -> list[str]:
        """What a copy lacks on its machine."""
        try:
            return list(waited_for(self._in_loop(self.crew.begun())).lacks)
        except Prerequisite as error:
            return [str(error)]

    def notices(self) -> list[str]:
        """Those of the editor."""
        return notices(self._editor)

    async def edit(self, request: EditRequest) -> Edited:
        """One call, by whichever copy has room."""
        sent = replace(request, call_part=None)  # parts that cost nothing are called where the editor is
        try:
            answer = await asyncio.wrap_future(self._in_loop(self.crew.call("edit", sent, seconds=self._seconds)))
        except CopyLost as error:
            raise WorkerLost(str(error), unsettled=True) from error
        except Overdue as error:
            raise Transient(f"no answer within {self._seconds:g} s", unsettled=True) from error
        if isinstance(answer, Failure):
            raise answer.error()
        edited: Edited = answer
        return edited

    async def close(self) -> None:
        """End the copies."""
        await asyncio.wrap_future(self._in_loop(self.crew.close()))

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)


class CrewCapacity:
    """How many calls a crew can take, told to the engine's gate in the engine's own event loop."""

    def __init__(self, crew: Crew, loop: asyncio.AbstractEventLoop) -> None:
        self._crew, self._loop = crew, loop

    def listen(self, resize: Callable[[int], None]) -> None:
        """Call this with the number now and at every change."""
        listener = asyncio.get_running_loop()

        def tell(number: int) -> None:
            if not listener.is_closed():
                listener.call_soon_threadsafe(resize, number)

        def begin() -> None:
            self._crew.resized = tell
            tell(max(1, len(self._crew.ready) * self._crew.calls))

        self._loop.call_soon_threadsafe(begin)
