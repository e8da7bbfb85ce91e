"""What built-in editors have in common. A plug-in need not use it: any object with the protocol's parts will do."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from inspect import isawaitable

from convergebench.registry import told
from convergebench.types import Capabilities, Edited, Editor, EditRequest, Limits

PROCESSOR = "this processor"
"""The account of editors that work on it: however many there are, it has only so many cores."""


def on_the_processor(*, at_once: int | None = None, seconds: float = 3600.0) -> Limits:
    """Limits of an editor whose calls each keep one core busy; all such editors of a run share the cores."""
    cores = os.cpu_count() or 1
    return Limits(at_once or cores, seconds=seconds, account=PROCESSOR, together=cores)


class BaseEditor(ABC):
    """An editor that knows what it lacks and lets go of what it holds. Making one loads nothing and needs no key."""

    name: str
    fingerprint: str
    capabilities: Capabilities
    limits: Limits

    def lacks(self) -> list[str]:
        """What is missing here before the first call can go well, each with what to type; empty = ready."""
        return []

    def notices(self) -> list[str]:
        """What somebody who is about to use it should know: it ends soon, nobody knows its price."""
        return []

    @abstractmethod
    async def edit(self, request: EditRequest) -> Edited:
        """Carry out one instruction, or raise Transient, BadReply, Refused, Exhausted or Unavailable."""

    async def close(self) -> None:  # noqa: B027 (most editors hold nothing)
        """Let go of connections and memory."""


def lacks(editor: Editor) -> list[str]:
    """What any editor lacks; one that does not say is taken to be ready, one that fails to say is not."""
    return _lines(editor, "lacks")


def notices(editor: Editor) -> list[str]:
    """What somebody who is about to use any editor should know."""
    return _lines(editor, "notices")


def _lines(editor: Editor, about: str) -> list[str]:
    ask = getattr(editor, about, None)
    if not callable(ask):
        return []
    try:
        said = ask()
        return [said] if isinstance(said, str) else [str(line) for line in said or ()]
    except Exception as error:  # foreign code: whatever it raises becomes one line
        return [f"it cannot say ({about}): {told(error)}"]


def calls_parts(editor: Editor) -> bool:
    """Whether it spends nothing itself: all that its calls cost are calls of its parts (`EditRequest.call_part`)."""
    return bool(getattr(editor, "calls_parts", False))


async def close(editor: Editor) -> None:
    """Let go of what any editor holds, if it holds something; a plain method will do as well as a coroutine."""
    ask = getattr(editor, "close", None)
    done = ask() if callable(ask) else None
    if isawaitable(done):
        await done
