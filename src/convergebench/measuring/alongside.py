"""Measuring alongside editing: worker processes score what is stored while later calls are in flight.

An editor behind a network leaves the cores of this machine idle; they measure meanwhile, so that a run of slow calls
takes little longer than its calls. Nothing depends on it: what is not measured when editing ends, or fails here, is
left to `measuring.measure`, which reports the reason.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from functools import lru_cache, partial
from queue import Empty, SimpleQueue
from typing import NamedTuple

from convergebench.backends.base import Backend, WorkPool
from convergebench.backends.local import LOCAL
from convergebench.images.align import AlignMode
from convergebench.measuring.batches import Batches, lanes
from convergebench.measuring.measure import measurement_rows, metric_fingerprint
from convergebench.measuring.task import MeasuredTask
from convergebench.measuring.worker import measure_task
from convergebench.metrics import load_metric
from convergebench.metrics.place import Place
from convergebench.progress import Progress
from convergebench.store.queries.measuring import comparisons_of_chain
from convergebench.store.records import Records
from convergebench.store.run import Run

WORTH_STARTING = 2.0
"""Seconds of editing after which worker processes are started; a shorter run is measured faster without."""


class _Grown(NamedTuple):
    """A chain that has new comparisons."""

    editor: str
    case: str


class _Closing(NamedTuple):
    """Editing has ended: measure what waits, then end."""


class _Done(NamedTuple):
    """A task that a worker has finished."""

    lane: int
    result: Future[MeasuredTask]


class MeasuringAlongside:
    """Measures chains in worker processes as they grow; a context manager around editing and measuring."""

    def __init__(
        self,
        run: Run,
        metrics: Sequence[str],
        *,
        align_mode: AlignMode,
        place: Place,
        workers: int | None = None,
        use_device: bool = True,
        backend: Backend = LOCAL,
    ) -> None:
        """`use_device`: whether networks may have the GPU while editors work."""
        self.progress = Progress()
        self.added = 0
        """Rows that were written."""
        self._run, self._align, self._place = run, align_mode, place
        self._loaded = {name: load_metric(name) for name in metrics}
        self._identities = {name: metric_fingerprint(one, place.precision) for name, one in self._loaded.items()}
        found = [lane for lane in lanes(self._loaded, place, workers, backend) if lane.metrics and not lane.in_process]
        # the first lane runs on the CPU; an editor's network may need all of the GPU's memory
        self._lanes = found if use_device or place.device == "cpu" else found[:1]
        self._events: SimpleQueue[_Grown | _Closing | _Done] = SimpleQueue()
        self._pools: list[WorkPool] = []
        self._failed = self._closing = False
        self._thread = threading.Thread(target=self._work, name="measuring", daemon=True)

    def __enter__(self) -> MeasuringAlongside:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        """Stop at once; only tasks in progress are lost."""
        self._failed = True
        self._events.put(_Closing())
        if self._thread.is_alive():
            for pool in self._pools:
                pool.end()
        self._thread.join()

    def chain_grew(self, editor: str, case: str) -> None:
        """A chain has new comparisons; returns at once, from any thread."""
        self._events.put(_Grown(editor, case))

    def finish(self) -> int:
        """Editing has ended: wait until every known comparison is measured; returns how many rows were added in all."""
        self._events.put(_Closing())
        self._thread.join()
        return self.added

    def _work(self) -> None:
        records = Records(self._run.journal.path)
        try:
            self._measure(records)
        except Exception:  # `measure` meets the same fault after editing and reports it
            self._failed = True
        finally:
            records.close()
            for pool in self._pools:
                pool.end() if self._failed else pool.finish()

    def _measure(self, records: Records) -> None:
        batches: list[Batches] = []
        grown: set[_Grown] = set()
        measured: set[_Grown] = set()
        in_flight = [0] * len(self._lanes)
        file_of = lru_cache(maxsize=10_000)(lambda image: records.image_row(image).file)
        begun = time.monotonic()
        while not self._failed:
            grown |= self._next_events(in_flight)
            if not batches:
                if self._closing:  # the run is too short to start workers
                    return
                if time.monotonic() - begun < WORTH_STARTING:
                    continue
                batches = [Batches(self._run, records, lane, self._align, self._identities) for lane in self._lanes]
                self._pools = [lane.pool() for lane in self._lanes]
            for chain in grown:
                rows = comparisons_of_chain(records, chain.editor, chain.case)
                missing = sum(one.add(rows) for one in batches)
                self.progress.steps += missing
                measured.update([chain] if missing else ())
            grown = set()
            self.progress.chains = len(measured)
            for index, (one, pool) in enumerate(zip(batches, self._pools, strict=True)):
                # one more than there are workers, so that none waits for this thread
                while in_flight[index] <= one.lane.workers and (task := one.take(file_of)) is not None:
                    in_flight[index] += 1
                    future = pool.submit(measure_task, task)
                    future.add_done_callback(partial(self._done, index))
            if self._closing and not any(in_flight):
                self.progress.chains_done = len(measured)
                return

    def _done(self, lane: int, result: Future[MeasuredTask]) -> None:
        self._events.put(_Done(lane, result))

    def _next_events(self, in_flight: list[int]) -> set[_Grown]:
        """Wait for an event, then handle all that are queued; values of finished tasks are written."""
        grown: set[_Grown] = set()
        try:
            event = self._events.get(timeout=WORTH_STARTING)
            while True:
                if isinstance(event, _Grown):
                    grown.add(event)
                elif isinstance(event, _Done):
                    in_flight[event.lane] -= 1
                    self._write(event.result.result())
                else:
                    self._closing = True
                event = self._events.get_nowait()
        except Empty:
            return grown

    def _write(self, done: MeasuredTask) -> None:
        rows = measurement_rows(done, self._loaded, self._align, self._identities)
        self._run.journal.commit_now(rows)
        self.added += len(rows)
        self.progress.steps_done += len(rows)
        self.progress.steps_called += len(rows)
