"""What a backend is: it carries out calls of editors and work on pixels; who asks and who writes stays the same.

The engine, the gates, the budget and the journal live in the process of the command, whatever the backend.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from convergebench.metrics.place import Place
from convergebench.types import Editor, Resources

DEVICE_WORKERS = 2
"""Measuring processes that share a GPU: one decodes while the other computes."""

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class EditorRecipe:
    """How another process makes the same editor, and what it is needed for."""

    use: str
    options: Mapping[str, Any]
    chains: int
    """Chains of the run that it edits."""
    resources: Resources | None = None
    """As the study file says; None: as the editor says."""


class WorkPool(Protocol):
    """Workers that are given one task at a time."""

    def submit(self, work: Callable[[Task], Result], task: Task) -> Future[Result]:
        """Have a worker do it; the function is found by its name, the task is sent."""

    def finish(self) -> None:
        """Every task is done: release the workers."""

    def end(self) -> None:
        """Stop at once; what the workers are at is lost."""


class Backend(ABC):
    """Carries out the work of one command; a context manager around it."""

    name: ClassVar[str]
    spreads: ClassVar[bool] = False
    """Whether it has machines of its own: networks then measure apart from other metrics, in workers that stay."""

    def __enter__(self) -> Backend:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def place_editors(self, editors: Mapping[str, Editor], recipes: Mapping[str, EditorRecipe]) -> dict[str, Editor]:
        """The same editors, as the engine is to call them."""

    @abstractmethod
    def place(self, device: str, precision: str, *, networks: bool) -> Place:
        """Where networks of metrics compute; an error if the device is not there."""

    @property
    @abstractmethod
    def cores(self) -> int:
        """How many processes measure side by side, unless the user says it."""

    @abstractmethod
    def network_workers(self, workers: int, place: Place) -> int:
        """How many of so many workers keep a network of their own there."""

    @abstractmethod
    def pool(self, workers: int, *, place: Place | None = None) -> WorkPool:
        """Workers for tasks that come one by one; with a place, workers that keep networks there."""

    @abstractmethod
    def results(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], workers: int, *, place: Place | None = None
    ) -> Iterator[Result]:
        """What `work` gives for each task, as it comes."""

    def close(self) -> None:  # noqa: B027 (this machine needs no goodbye)
        """Release everything."""
