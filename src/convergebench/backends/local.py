"""This machine: editors are called in this process, pixels are measured in processes of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future

from convergebench.backends.base import DEVICE_WORKERS, Backend, EditorRecipe, Result, Task, WorkPool
from convergebench.metrics.place import Place, choose
from convergebench.processes import end_workers, results, worker_pool
from convergebench.types import Editor


class LocalBackend(Backend):
    """The default."""

    name = "local"

    def place_editors(self, editors: Mapping[str, Editor], recipes: Mapping[str, EditorRecipe]) -> dict[str, Editor]:
        """The editors themselves."""
        return dict(editors)

    def place(self, device: str, precision: str, *, networks: bool) -> Place:
        """A GPU of this machine if there is one; torch is looked for only if a metric is a network."""
        return choose(device if networks or device != "auto" else "cpu", precision)

    @property
    def cores(self) -> int:
        """Those of this machine."""
        return os.cpu_count() or 1

    def network_workers(self, workers: int, place: Place) -> int:
        """All of them, or the few that share a GPU."""
        return workers if place.device == "cpu" else min(workers, DEVICE_WORKERS)

    def pool(self, workers: int, *, place: Place | None = None) -> WorkPool:
        """Processes; networks are kept by those that have used them."""
        return ProcessPool(workers)

    def results(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], workers: int, *, place: Place | None = None
    ) -> Iterator[Result]:
        """By processes, or in this one where there is nothing to share out."""
        return results(work, tasks, workers)


class ProcessPool:
    """Worker processes of this machine."""

    def __init__(self, workers: int) -> None:
        self._pool = worker_pool(workers)

    def submit(self, work: Callable[[Task], Result], task: Task) -> Future[Result]:
        """Have a process do it."""
        return self._pool.submit(work, task)

    def finish(self) -> None:
        """Wait for the processes to end."""
        self._pool.shutdown()

    def end(self) -> None:
        """End the processes."""
        end_workers(self._pool)


LOCAL = LocalBackend()
"""It holds nothing, so one is enough."""
