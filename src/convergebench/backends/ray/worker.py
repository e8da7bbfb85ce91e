"""The code that runs on the machines of a cluster: an editor that stays loaded, and work on pixels.

No exception leaves a worker: Ray would log it, with whatever it holds. Failures travel as plain values, and every text
is redacted here, where the keys of this machine are known.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from convergebench import errors
from convergebench.errors import BadReply, ConvergeBenchError, EditorError, Prerequisite, StudyError
from convergebench.redaction import redact
from convergebench.registry import error_text
from convergebench.types import Edited, EditRequest

CARRIED = ("WorkerLost", "Transient", "BadReply", "Refused", "Exhausted", "Unavailable", "EditorError", "Prerequisite")
"""Errors that keep their meaning on the way; any other one becomes a `StudyError`."""


class Failure(NamedTuple):
    """An error as it travels: words and numbers only."""

    kind: str
    message: str
    details: Mapping[str, Any]

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """What can be said of an error without the object itself, which may be of a class that nobody else has."""
        names = [one.__name__ for one in type(error).__mro__]
        kind = next((name for name in CARRIED if name in names), "StudyError")
        try:
            message = redact(str(error) if isinstance(error, ConvergeBenchError) else error_text(error))
        except Exception:  # its own __str__ fails
            message = f"{type(error).__name__} without a readable message"
        details: dict[str, Any] = {}
        if isinstance(error, EditorError):
            known = isinstance(error.dollars, int | float)
            details = {"dollars": error.dollars if known else math.nan, "unsettled": bool(error.unsettled)}
            if isinstance(error.raw, str):
                details["raw"] = redact(error.raw)
            for name in ("retry_after", "reason"):
                if isinstance(getattr(error, name, None), str | int | float):
                    details[name] = getattr(error, name)
        return cls(kind, message, details)

    def error(self) -> ConvergeBenchError:
        """The error again."""
        made: ConvergeBenchError = getattr(errors, self.kind)(self.message, **self.details)
        return made


class Readiness(NamedTuple):
    """What a worker says of itself before its first task."""

    host: str
    lacks: tuple[str, ...] = ()
    fault: Failure | None = None


@dataclass(frozen=True)
class WorkerRecipe:
    """What a worker makes its editor from. It holds no key: options of editors only name variables."""

    name: str
    use: str
    options: Mapping[str, Any]
    fingerprint: str
    version: str
    """Of this package, where the command runs."""
    folder: str
    """The folder of the command: relative paths mean the same where there is such a folder."""
    gpus: float


class EditorWorker:
    """One copy of an editor, on one machine; its calls overlap, so that it can form batches across chains."""

    def __init__(self, recipe: WorkerRecipe) -> None:
        self._editor: Any = None
        self._fault: Failure | None = None
        try:
            self._editor = _make(recipe)
        except BaseException as error:  # told by `ready`
            self._fault = Failure.of(error)

    async def ready(self) -> Readiness:
        """Whether the editor could be made, and what it lacks on this machine."""
        from convergebench.editors.base import lacks

        missing = [] if self._editor is None else [redact(line) for line in lacks(self._editor)]
        return Readiness(platform.node(), tuple(missing), self._fault)

    async def edit(self, request: EditRequest) -> Edited | Failure:
        """The editor's answer, checked as on the command's own machine."""
        from convergebench.engine.received import call_editor

        try:
            return _clean(await call_editor(self._editor, request))
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            return Failure.of(error)


class MeasuringWorker:
    """A process that stays, so that networks are loaded once."""

    def __init__(self, version: str, gpus: float) -> None:
        self._version = version
        if not gpus:
            _hide_gpus()

    def ready(self) -> Readiness:
        """Always, unless the package differs."""
        return Readiness(platform.node(), fault=_other_version(self._version))

    def work(self, function: Callable[[Any], Any], task: Any) -> Any:
        """The same as `work_once`."""
        return work_once(function, task, self._version)


def work_once(function: Callable[[Any], Any], task: Any, version: str) -> Any:
    """What the function gives for the task, or a `Failure`."""
    fault = _other_version(version)
    if fault is not None:
        return fault
    try:
        _begin()
        return function(task)
    except BaseException as error:
        return Failure.of(error)


@cache
def _begin() -> None:
    from convergebench.processes import use_one_thread

    use_one_thread()


def _make(recipe: WorkerRecipe) -> Any:
    from convergebench.editors.find import make_editor

    if not recipe.gpus:
        _hide_gpus()
    fault = _other_version(recipe.version)
    if fault is not None:
        raise fault.error()
    if Path(recipe.folder).is_dir():
        os.chdir(recipe.folder)
    editor = make_editor(recipe.use, recipe.name, **recipe.options)
    if editor.fingerprint != recipe.fingerprint:
        raise StudyError(
            f"{recipe.name} is another editor on {platform.node()} ({editor.fingerprint}) than where the command runs "
            f"({recipe.fingerprint}); use the same code, packages and weights on all machines"
        )
    return editor


def _hide_gpus() -> None:
    """Who asked for no GPU gets none; Ray leaves them visible."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""


def _other_version(version: str) -> Failure | None:
    here = package_version()
    if here == version:
        return None
    return Failure.of(
        Prerequisite(
            f"{platform.node()} has convergebench {here} and this machine has {version}; install the same on both"
        )
    )


@cache
def package_version() -> str:
    """Of this package, as installed here."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("convergebench")
    except PackageNotFoundError:
        return "of an unknown version"


def _clean(edited: Edited) -> Edited:
    """Without the keys of this machine in its texts."""
    try:
        used = json.loads(redact(json.dumps(dict(edited.used), ensure_ascii=False, default=str)))
    except (ValueError, TypeError, RecursionError) as error:
        raise BadReply(f"its `used` cannot be sent: {error_text(error)}", dollars=edited.dollars) from error
    return replace(
        edited,
        model=_redacted(edited.model),
        reasoning=_redacted(edited.reasoning),
        raw=_redacted(edited.raw),
        used=used,
    )


def _redacted(text: Any) -> Any:
    return redact(text) if isinstance(text, str) else text
