"""The missing values of a run, in batches for workers.

Comparisons of one source image go to a worker together, across chains and editors: the source is processed once, and
networks get full batches even if chains are short.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from convergebench.backends.base import Backend, Result, Task, WorkPool
from convergebench.backends.local import LOCAL
from convergebench.images.align import AlignMode
from convergebench.kinds import measured_as
from convergebench.measuring.task import Comparison, MeasuringTask
from convergebench.metrics.base import BY_ITSELF, Metric, MetricFacts, runs_on_gpu
from convergebench.metrics.functions import OwnFunctionMetric
from convergebench.metrics.place import Place
from convergebench.store.queries.measuring import PixelComparison, measured_comparisons
from convergebench.store.records import Records
from convergebench.store.run import Run, is_complete
from convergebench.types import CompareRole

MIN_COMPARISONS = 48
"""Of a task, if its source image has as many left."""


class Lane(NamedTuple):
    """Metrics that run on the same device, with the number of workers."""

    metrics: Mapping[str, Metric]
    place: Place
    workers: int
    in_process: bool = False
    """Whether other processes cannot find these metrics."""
    networks: bool = False
    """Whether they are networks, whose workers should keep them."""
    backend: Backend = LOCAL

    def results(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """What `work` gives for each task, as it comes."""
        return self.backend.results(work, tasks, self.workers, place=self.place if self.networks else None)

    def pool(self) -> WorkPool:
        """Workers for tasks that come one by one."""
        return self.backend.pool(self.workers, place=self.place if self.networks else None)


def lanes(metrics: Mapping[str, Metric], place: Place, workers: int | None, backend: Backend = LOCAL) -> Iterator[Lane]:
    """One lane for the CPU; with a GPU, a second one for what runs there; with other machines, for networks.

    Functions of the user's own are measured on this machine, and in this process if no other one can find them.
    """
    count = workers or backend.cores
    on_gpu = place.device != "cpu"
    apart = on_gpu or backend.spreads
    given = {name: one for name, one in metrics.items() if is_given(one)}
    own = {name: one for name, one in metrics.items() if backend.spreads and isinstance(one, OwnFunctionMetric)}
    metrics = {name: one for name, one in metrics.items() if name not in {*given, *own}}
    networks = {
        name: one for name, one in metrics.items() if apart and (runs_on_gpu(one) if on_gpu else one.facts.network)
    }
    pixels = {name: one for name, one in metrics.items() if name not in networks}
    yield Lane(pixels, place, count, backend=backend)
    if apart:
        yield Lane(networks, place, backend.network_workers(count, place), networks=True, backend=backend)
    if own.keys() - given.keys():
        found = {name: one for name, one in own.items() if name not in given}
        yield Lane(found, place, workers or os.cpu_count() or 1)
    if given:
        yield Lane(given, place, 1, in_process=True)


def is_given(metric: Metric) -> bool:
    """Whether it is a function that was given in Python, which other processes cannot find."""
    return isinstance(metric, OwnFunctionMetric) and metric.in_process


class Batches:
    """The comparisons that metrics of one lane have not measured yet."""

    def __init__(
        self, run: Run, records: Records, lane: Lane, align_mode: AlignMode, identities: Mapping[str, str]
    ) -> None:
        self.lane = lane
        self._images, self._align = run.images, align_mode
        self._captions = captions(run)
        self._metrics_for: dict[str, list[str]] = {}
        for name, metric in lane.metrics.items():
            for role in roles_filled(metric.facts):
                self._metrics_for.setdefault(role, []).append(name)
        self._known = {
            (comparison, name)
            for name, metric in lane.metrics.items()
            for comparison in measured_comparisons(
                records, metric.facts.name, mode_of(metric, align_mode), identities[name]
            )
        }
        self._waiting: dict[str, list[list[Comparison]]] = {}
        """Source image → comparisons, chain by chain."""

    def add(self, rows: Iterable[PixelComparison]) -> int:
        """Queue the missing values of these comparisons, each once; returns how many."""
        values = 0
        for (source, *_), group in groupby(rows, key=lambda row: (row.source, row.editor, row.case)):
            comparisons = [found for row in group if (found := self._lacking(row)) is not None]
            if comparisons:
                self._waiting.setdefault(source, []).append(comparisons)
                values += sum(len(one.metrics) for one in comparisons)
        return values

    def take(self, file_of: Callable[[str], str]) -> MeasuringTask | None:
        """The next task, None if nothing waits; `file_of` an image id is the file that holds it."""
        source = next(iter(self._waiting), None)
        if source is None:
            return None
        chains, count = self._waiting[source], 0
        taken: list[Comparison] = []
        while chains and len(taken) < MIN_COMPARISONS:
            taken += chains.pop(0)
            count += 1
        if not chains:
            del self._waiting[source]
        images = {image for one in taken for image in (one.subject, one.reference, one.via) if image}
        files = {image: file_of(image) for image in (*images, source)}
        return MeasuringTask(self._images, self._align, source, tuple(taken), files, self.lane.place, chains=count)

    def tasks(self, file_of: Callable[[str], str]) -> Iterator[MeasuringTask]:
        """Every task that waits."""
        while (task := self.take(file_of)) is not None:
            yield task

    def _lacking(self, row: PixelComparison) -> Comparison | None:
        role = measured_as(row.role, has_reference=row.reference is not None)
        missing = tuple(name for name in self._metrics_for.get(role, ()) if (row.id, name) not in self._known)
        if not missing:
            return None
        self._known.update((row.id, name) for name in missing)
        before, after = self._captions.get(row.instruction, ("", ""))
        return Comparison(
            *(row.id, row.role, row.subject, row.reference, row.via, row.operation, row.instruction),
            before=before,
            after=after,
            metrics=missing,
        )


def mode_of(metric: Metric, align_mode: AlignMode) -> str:
    """The alignment under which a metric's values are stored; `none` for metrics of unaligned images."""
    return align_mode if metric.facts.aligned else "none"


def roles_filled(facts: MetricFacts) -> tuple[CompareRole, ...]:
    """Which comparisons a metric fills in.

    A metric that compares with the source also compares with step 1; a no-reference metric also rates pictures whose
    content was meant to change, and those that only an audit asks for.
    """
    more: tuple[CompareRole, ...] = ()
    if "return" in facts.roles and facts.kind in ("full-reference", "semantic"):
        more = ("first",)
    elif "return" in facts.roles and facts.kind == "no-reference":
        more = BY_ITSELF
    return (*facts.roles, *more)


def captions(run: Run) -> dict[str, tuple[str, str]]:
    """Instruction → captions of the picture before and after it, where the pair has them and they are unambiguous."""
    found: dict[str, tuple[str, str]] = {}
    conflicts: Counter[str] = Counter()
    pairs = run.manifest.pairs if is_complete(run.root) else {}
    for pair in pairs.values():
        without, with_it = pair.get("before", ""), pair.get("after", "")
        if without and with_it:
            ways = ((pair["forward"], (without, with_it)), (pair.get("backward") or "", (with_it, without)))
            for instruction, caption in ways:
                conflicts[instruction] += found.get(instruction, caption) != caption
                found[instruction] = caption
    return {instruction: caption for instruction, caption in found.items() if not conflicts[instruction]}
