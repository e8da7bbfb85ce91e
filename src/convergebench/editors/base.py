"""What built-in editors have in common. A plug-in need not use it: any object with the protocol's parts will do."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

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
    """What any editor lacks; one that cannot say is taken to be ready."""
    ask = getattr(editor, "lacks", None)
    return list(ask()) if callable(ask) else []


def notices(editor: Editor) -> list[str]:
    """What somebody who is about to use any editor should know."""
    ask = getattr(editor, "notices", None)
    return list(ask()) if callable(ask) else []


async def close(editor: Editor) -> None:
    """Let go of what any editor holds, if it holds something."""
    ask = getattr(editor, "close", None)
    if callable(ask):
        await ask()
