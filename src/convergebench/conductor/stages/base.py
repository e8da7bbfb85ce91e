"""What a stage is: a check before the first call, and work on the run after editing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from convergebench.backends.base import Backend
from convergebench.backends.local import LOCAL
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import RunOptions
from convergebench.conductor.stages._table import TABLE
from convergebench.engine.prepared import Prepared
from convergebench.errors import StudyError
from convergebench.registry import load, third_party
from convergebench.store.run import Run
from convergebench.studies.base import study_of


@dataclass(frozen=True)
class StageContext:
    """Everything that a stage works with."""

    root: Path
    prepared: Prepared
    options: RunOptions
    observer: Observer
    opened: Run | None
    """The run, open for writing; None for a stage that writes pages."""
    backend: Backend = LOCAL

    @property
    def run(self) -> Run:
        """The run, open for writing."""
        if self.opened is None:
            raise StudyError("a stage that writes pages works on the run's folder, not on the open run")
        return self.opened


class WorkAlongside(Protocol):
    """Work that goes on while editors work: a context manager around editing and the stages after it."""

    def __enter__(self) -> object: ...

    def __exit__(self, *error: object) -> None: ...

    def chain_grew(self, editor: str, case: str) -> None:
        """A step of this chain has been stored."""


class Stage(ABC):
    """Base class of stages; `convergebench.conductor.stages.examine` is a short one."""

    pages: ClassVar[bool] = False
    """Whether it writes pages: it then comes after the run's own report, and not at all without reports."""

    def check(self, prepared: Prepared) -> Sequence[str]:
        """Refuse what could not go well before the first call is paid for; lines that a dry run shows."""
        return ()

    def begin(self, context: StageContext) -> WorkAlongside | None:
        """Work that may begin before editing has ended: it hears of every chain that has grown."""
        return None

    @abstractmethod
    def __call__(self, context: StageContext) -> str | None:
        """Do the work; why it ended before its time, or None."""


def stages_of(prepared: Prepared) -> list[Stage]:
    """The stages of a study, in its order."""
    found = []
    for name in study_of(prepared.study).stages:
        with third_party(f"the stage '{name}'", built_in=name in TABLE):
            stage = load("stages", name)()
        if not isinstance(stage, Stage):
            raise StudyError(f"stage '{name}' of the study '{prepared.study}' is not a Stage; inherit from that class")
        found.append(stage)
    return found


def stage_code(stage: Stage) -> AbstractContextManager[None]:
    """Around calls of a stage: what a third party's raises becomes an error of one line."""
    kind = type(stage)
    return third_party(f"the stage {kind.__name__}", built_in=kind.__module__.startswith("convergebench."))
