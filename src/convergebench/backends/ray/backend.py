"""The machines of a Ray cluster: editors with their weights stay loaded there, pixels are measured there.

Calls to providers stay in the command's process, with its keys and its gates: one rate limit holds for the whole
cluster. That process is also the only one that writes.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from convergebench.backends.base import DEVICE_WORKERS, Backend, EditorRecipe, Result, Task, WorkPool
from convergebench.backends.ray.balance import Balance
from convergebench.backends.ray.cluster import Cluster, bundle_of, in_words, options_of
from convergebench.backends.ray.crew import Crew
from convergebench.backends.ray.placed_editor import PlacedEditor
from convergebench.backends.ray.placement import calls_per_copy, is_rebuilt, resources_of
from convergebench.backends.ray.pool import AT_ONCE_PER_WORKER, RayPool, network_crew
from convergebench.backends.ray.shipping import SHARE, Shipping
from convergebench.backends.ray.worker import EditorWorker, WorkerRecipe, package_version
from convergebench.errors import Prerequisite, StudyError
from convergebench.metrics.place import Place, choose
from convergebench.processes import gathered
from convergebench.registry import is_in_file
from convergebench.types import Editor, Resources

MOST_COPIES = 256
"""Of one editor."""


class RayBackend(Backend):
    """Connected from its creation until it is closed."""

    name = "ray"
    spreads = True

    def __init__(self, address: str, note: Callable[[str], None]) -> None:
        self.cluster = Cluster(address)
        self._note = note
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ray", daemon=True)
        self._thread.start()
        self._pools: list[RayPool] = []
        self.balance = Balance(self.cluster, note)
        nodes = self.cluster.nodes()
        room = SHARE * min((node.get("object_store_memory", 0.0) for node in nodes), default=0.0)
        self.shipping = self._in_loop(self._begin(room))
        where = "started on this machine" if self.cluster.started else f"at {self.cluster.address}"
        machines = "1 machine" if len(nodes) == 1 else f"{len(nodes)} machines"
        resources = {"CPU": self.cluster.total("CPU"), "GPU": self.cluster.total("GPU")}
        note(f"Ray {where}: {machines} with {in_words({name: n for name, n in resources.items() if n})}")

    async def _begin(self, room: float) -> Shipping:
        self.balance.begin()
        return Shipping(room, asyncio.to_thread)

    def place_editors(self, editors: Mapping[str, Editor], recipes: Mapping[str, EditorRecipe]) -> dict[str, Editor]:
        """Editors that need a machine get copies on the cluster; the others are called from this process."""
        placed: dict[str, Editor] = dict(editors)
        crews: list[Crew] = []
        for name, editor in editors.items():
            recipe = recipes.get(name)
            resources = resources_of(editor, name, recipe.resources if recipe else None)
            if recipe is None or resources is None:
                continue
            if not is_rebuilt(editor, name, recipe):
                self._note(f"{name} was given in Python and cannot be made on other machines; it works in this process")
                continue
            crews.append(_crew_of(editor, name, recipe, resources))
            placed[name] = PlacedEditor(editor, crews[-1], self._loop)
        self._in_loop(self.balance.look_after(crews))
        return placed

    def place(self, device: str, precision: str, *, networks: bool) -> Place:
        """A GPU if the cluster has one; which one is the cluster's choice."""
        chosen = choose("cpu", precision)
        if device not in ("auto", "cpu", "cuda"):
            raise StudyError(f"--device {device}: Ray gives GPUs out; type --device cuda, or leave it out")
        there = self.cluster.total("GPU") > 0 if networks or device == "cuda" else False
        if device == "cuda" and not there:
            raise Prerequisite("no machine of the cluster has a GPU; leave --device out")
        return Place("cuda", chosen.precision) if there and device != "cpu" else chosen

    @property
    def cores(self) -> int:
        """Those of all machines."""
        return max(1, int(self.cluster.total("CPU")))

    def network_workers(self, workers: int, place: Place) -> int:
        """All of them, or a few for each GPU."""
        if place.device == "cpu":
            return workers
        return max(1, min(workers, int(DEVICE_WORKERS * self.cluster.total("GPU"))))

    def pool(self, workers: int, *, place: Place | None = None) -> WorkPool:
        """A task for each piece of work; with a place, workers that stay."""
        return self._pool(workers, place)

    def results(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], workers: int, *, place: Place | None = None
    ) -> Iterator[Result]:
        """By the machines of the cluster, as they come."""
        workers = min(workers, len(tasks)) or 1
        pool = self._pool(workers, place)
        try:
            yield from gathered(lambda task: pool.submit(work, task), tasks, 2 * AT_ONCE_PER_WORKER * workers)
        except BaseException:
            pool.end()
            raise
        pool.finish()

    def close(self) -> None:
        """End all copies and disconnect."""
        for pool in self._pools:
            pool.end()
        self._in_loop(self.balance.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.cluster.close()

    def _pool(self, workers: int, place: Place | None) -> RayPool:
        crew = None if place is None else network_crew(workers, place)
        if crew is not None:
            self._in_loop(self.balance.look_after([crew]))
        pool = RayPool(self._loop, self.shipping, crew, workers)
        self._pools.append(pool)
        return pool

    def _in_loop(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _crew_of(editor: Editor, name: str, recipe: EditorRecipe, resources: Resources) -> Crew:
    import ray

    calls = calls_per_copy(editor, resources)
    bundle = bundle_of(resources)
    made = WorkerRecipe(
        name=name,
        use=_anywhere(recipe.use),
        options=recipe.options,
        fingerprint=editor.fingerprint,
        version=package_version(),
        folder=str(Path.cwd()),
        gpus=resources.gpus,
    )
    # one more than its calls, so that it answers `ready` at any time
    kind = ray.remote(EditorWorker).options(**options_of(bundle), max_restarts=0, max_concurrency=calls + 1)
    return Crew(
        name=name,
        make=lambda: kind.remote(made),
        bundle=bundle,
        calls=calls,
        most=min(resources.copies or MOST_COPIES, -(-recipe.chains // calls) or 1),
    )


def _anywhere(use: str) -> str:
    """The user's own file with its whole path: a worker may stand in another folder."""
    if not is_in_file(use):
        return use
    file, _, attribute = use.rpartition(":")
    return f"{Path(file).resolve()}:{attribute}"
