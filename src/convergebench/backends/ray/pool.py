"""Work on pixels by the machines of a cluster: a task for each piece, or workers that keep networks loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from convergebench.backends.base import DEVICE_WORKERS, Result, Task
from convergebench.backends.ray.cluster import bundle_of, options_of
from convergebench.backends.ray.crew import CopyLost, Crew
from convergebench.backends.ray.shipping import Shipping
from convergebench.backends.ray.worker import Failure, MeasuringWorker, package_version, work_once
from convergebench.errors import StudyError
from convergebench.metrics.place import Place
from convergebench.registry import error_text
from convergebench.types import Resources

MOST_LOSSES = 3
"""How often a task is given to another worker when one is lost; it has no effects, so it can be repeated."""
AT_ONCE_PER_WORKER = 2
"""One task is sent while another is worked on."""


class RayPool:
    """Workers of one lane; `submit` may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, shipping: Shipping, crew: Crew | None, workers: int) -> None:
        self._loop, self._shipping = loop, shipping
        self.crew = crew
        """The workers that stay; None: a task for each piece of work."""
        self._room = asyncio.Semaphore(AT_ONCE_PER_WORKER * workers)
        self._under_way: set[Future[Any]] = set()

    def submit(self, work: Callable[[Task], Result], task: Task) -> Future[Result]:
        """Have a machine do it; waits in this process while all are busy."""
        future: Future[Result] = asyncio.run_coroutine_threadsafe(self._done(work, task), self._loop)
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    def finish(self) -> None:
        """Release the workers."""
        if self.crew is not None:
            asyncio.run_coroutine_threadsafe(self.crew.close(), self._loop).result()

    def end(self) -> None:
        """Give up what is under way."""
        for future in list(self._under_way):
            future.cancel()
        self.finish()

    async def _done(self, work: Callable[[Task], Result], task: Task) -> Any:
        async with self._room:
            sent, files = await self._shipping.load(task)
            try:
                answer = await (self._by_task(work, sent) if self.crew is None else self._by_crew(work, sent))
            finally:
                self._shipping.unload(files)
        if isinstance(answer, Failure):
            raise answer.error()
        return answer

    async def _by_task(self, work: Callable[..., Any], task: Any) -> Any:
        import ray
        from ray.exceptions import RayError

        remote = ray.remote(work_once).options(num_cpus=1, max_retries=MOST_LOSSES)
        reference = remote.remote(work, task, package_version())
        try:
            return await reference
        except asyncio.CancelledError:
            ray.cancel(reference, force=True)
            raise
        except RayError as error:
            raise _gave_up(error) from error

    async def _by_crew(self, work: Callable[..., Any], task: Any) -> Any:
        assert self.crew is not None
        for number in range(MOST_LOSSES + 1):
            try:
                return await self.crew.call("work", work, task)
            except CopyLost as error:
                if number == MOST_LOSSES:
                    raise _gave_up(error) from error
        raise AssertionError("unreachable: the last try returns or raises")


def network_crew(workers: int, place: Place) -> Crew:
    """Workers that keep the networks of metrics, on GPUs if that is the place."""
    import ray

    bundle = bundle_of(Resources(gpus=0.0 if place.device == "cpu" else 1 / DEVICE_WORKERS))
    kind = ray.remote(MeasuringWorker).options(**options_of(bundle), max_restarts=0)
    return Crew(
        name="measuring",
        make=lambda: kind.remote(package_version(), bundle.get("GPU", 0.0)),
        bundle=bundle,
        calls=AT_ONCE_PER_WORKER,
        most=workers,
    )


def _gave_up(error: Exception) -> StudyError:
    return StudyError(
        f"measuring on the cluster failed {MOST_LOSSES + 1} times for one task, perhaps because memory ran out "
        f"({error_text(error)[:200]}); what was measured is kept. Run the same command again"
    )
