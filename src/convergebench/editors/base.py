"""Base class of built-in editors. A plug-in need not use it: any object that follows the `Editor` protocol works."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from inspect import isawaitable
from typing import NamedTuple

from convergebench.registry import error_text
from convergebench.types import Capabilities, Edited, Editor, EditRequest, Limits, Resources

PROCESSOR = "this processor"
"""Account name shared by all editors that run on the CPU, since they share its cores."""


def cpu_limits(*, at_once: int | None = None, seconds: float = 3600.0) -> Limits:
    """Limits of an editor whose calls each keep one core busy; all such editors of a run share the cores."""
    cores = os.cpu_count() or 1
    return Limits(at_once or cores, seconds=seconds, account=PROCESSOR, together=cores)


class ImageSize(NamedTuple):
    """Width and height in pixels; as text `1024x768`."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


class BaseEditor(ABC):
    """An editor that reports what it lacks and can be closed. Creating one loads nothing and needs no key."""

    name: str
    fingerprint: str
    capabilities: Capabilities
    limits: Limits
    weights: Sequence[str] = ()
    """Names of the weight files that it loads, as `cbench weights list` has them."""
    resources: Resources | None = None
    """What a copy needs of a machine of a cluster; None: it works in the command's process, unless the study says
    what it resources. Editors that share the processor need one core."""

    def lacks(self) -> list[str]:
        """What is missing before the first call can work, each with the command to type; empty if ready."""
        return []

    def notices(self) -> list[str]:
        """Warnings for the user: the model is retired soon, its price is unknown."""
        return []

    @abstractmethod
    async def edit(self, request: EditRequest) -> Edited:
        """Carry out one instruction, or raise Transient, BadReply, Refused, Exhausted or Unavailable."""

    async def close(self) -> None:  # noqa: B027 (most editors hold nothing)
        """Release connections and memory."""


def lacks(editor: Editor) -> list[str]:
    """What any editor lacks; one without the method counts as ready, one whose method fails does not."""
    return _lines(editor, "lacks")


def notices(editor: Editor) -> list[str]:
    """Warnings of any editor for its user."""
    return _lines(editor, "notices")


def _lines(editor: Editor, name: str) -> list[str]:
    method = getattr(editor, name, None)
    if not callable(method):
        return []
    try:
        answer = method()
        return [answer] if isinstance(answer, str) else [str(line) for line in answer or ()]
    except (Exception, SystemExit) as error:  # a plug-in may raise anything; it becomes one line
        return [f"it cannot tell ({name}): {error_text(error)}"]


def calls_parts(editor: Editor) -> bool:
    """Whether only its parts cost money, which it calls through `EditRequest.call_part`."""
    return bool(getattr(editor, "calls_parts", False))


async def close(editor: Editor) -> None:
    """Close any editor, if it has a `close` method, plain or async."""
    method = getattr(editor, "close", None)
    done = method() if callable(method) else None
    if isawaitable(done):
        await done
