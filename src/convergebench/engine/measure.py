"""Measuring: comparisons × metrics − measurements, over stored images, on all cores.

A worker takes a chain: each of its images is decoded once for all metrics, and what a metric works out about the
source is kept while that source's chains last. Workers only return values; this process writes.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Any, NamedTuple

from convergebench.engine.progress import Progress
from convergebench.errors import StudyError, Unmeasurable
from convergebench.ids import fingerprint
from convergebench.images.align import AlignMode, align
from convergebench.images.decode import decode
from convergebench.images.frame import Frame
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item, Metric, Reading
from convergebench.store.journal import Row
from convergebench.store.run import Run

KEPT_FRAMES = 3
"""Decoded images a worker keeps with their derived planes: the source, the subject and its parent."""
KEPT_PIXELS = 10
"""Decoded images kept as bare pixels, for comparisons with earlier rounds."""


class Comparison(NamedTuple):
    """A row to be measured, with the metrics that lack a value."""

    id: str
    role: str
    subject: str
    reference: str | None
    via: str | None
    operation: str | None
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """The work of one chain. Files are relative to the run."""

    root: str
    align: AlignMode
    comparisons: tuple[Comparison, ...]
    files: Mapping[str, str]


def metric_fingerprint(metric: Metric) -> str:
    """What a metric is, in one word."""
    return fingerprint(metric.facts.name, metric.facts.version, {})


def measure(
    run: Run,
    metrics: Sequence[str],
    *,
    align_mode: AlignMode,
    workers: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Fill in what is missing; returns how many rows were added (a value that cannot be had is a row with a status)."""
    progress = progress or Progress()
    loaded = {name: load_metric(name) for name in metrics}
    tasks = list(_tasks(run, loaded, align_mode))
    progress.chains += len(tasks)
    progress.steps += sum(len(comparison.metrics) for task in tasks for comparison in task.comparisons)
    if not tasks:
        return 0
    identities = {name: metric_fingerprint(metric) for name, metric in loaded.items()}
    added = 0
    for readings in _results(tasks, workers or os.cpu_count() or 1):
        rows: list[Row] = []
        for comparison, name, reading in readings:
            # a metric that takes images as they come has one value whatever the alignment
            mode = align_mode if loaded[name].facts.aligned else "none"
            key = (comparison, name, mode, identities[name])
            rows.append(("measurements", (*key, reading.value, reading.status, reading.detail)))
        run.journal.commit_now(rows)
        added += len(rows)
        progress.chains_done += 1
        progress.steps_done += len(rows)
        progress.steps_called += len(rows)
    return added


def _results(tasks: Sequence[Task], workers: int) -> Iterator[list[tuple[str, str, Reading]]]:
    if workers == 1 or len(tasks) == 1:
        yield from map(measure_chain, tasks)
        return
    context = multiprocessing.get_context("spawn")  # fork would copy threads' locks
    pool = ProcessPoolExecutor(min(workers, len(tasks)), mp_context=context, initializer=_begin_worker)
    waiting = iter(tasks)
    under_way: set[Future[list[tuple[str, str, Reading]]]] = set()
    try:
        while True:
            while len(under_way) < 3 * workers and (task := next(waiting, None)) is not None:
                under_way.add(pool.submit(measure_chain, task))
            if not under_way:
                return
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    except BrokenProcessPool as error:
        raise StudyError(
            "a measuring process was killed, perhaps for want of memory; what was measured is kept. "
            "Run the same command again with fewer: --workers 1"
        ) from error
    except BaseException:  # Ctrl-C above all: nobody will take the values that workers are at
        for child in multiprocessing.active_children():
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_worker() -> None:
    import cv2

    cv2.setNumThreads(1)  # one worker per core already; more threads would only get in each other's way
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all; the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed parent cannot tell its workers; without this they would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


def _tasks(run: Run, metrics: Mapping[str, Metric], align_mode: AlignMode) -> Iterator[Task]:
    """Chains with something to measure, those of one source together so that its planes are worked out once."""
    have = _have(run, metrics, align_mode)
    wanted: dict[str, list[str]] = {}
    for name, metric in metrics.items():
        for role in metric.facts.roles:
            wanted.setdefault(role, []).append(name)
    files: dict[str, str] = dict(run.journal.rows("select id, file from images"))
    rows = run.journal.rows(
        """select k.id, k.role, k.subject, k.reference, k.via, k.operation, c.image, k.editor, k."case"
           from comparisons k join cases c on c.id = k."case" order by c.image, k.editor, k."case", k.step, k.lag"""
    )
    for _, group in groupby(rows, key=lambda row: row[6:]):
        comparisons = []
        for identity, role, subject, reference, via, operation, *_ in group:
            missing = tuple(name for name in wanted.get(role, ()) if (identity, name) not in have)
            if missing:
                comparisons.append(Comparison(identity, role, subject, reference, via, operation, missing))
        if comparisons:
            images = {image for row in comparisons for image in (row.subject, row.reference, row.via) if image}
            yield Task(str(run.root), align_mode, tuple(comparisons), {image: files[image] for image in images})


def _have(run: Run, metrics: Mapping[str, Metric], align_mode: AlignMode) -> set[tuple[str, str]]:
    have: set[tuple[str, str]] = set()
    for name, metric in metrics.items():
        mode = align_mode if metric.facts.aligned else "none"
        query = "select comparison from measurements where metric = ? and align = ? and fingerprint = ?"
        have.update((row[0], name) for row in run.journal.rows(query, (name, mode, metric_fingerprint(metric))))
    return have


# --- in the worker ---------------------------------------------------------------------------------------


class _Shelf:
    """The newest decoded images of this worker; older ones are let go."""

    def __init__(self) -> None:
        self._frames: OrderedDict[str, Frame] = OrderedDict()
        self._pixels: OrderedDict[str, Any] = OrderedDict()

    def frame(self, root: Path, identity: str, file: str) -> Frame:
        if identity in self._frames:
            self._frames.move_to_end(identity)
            return self._frames[identity]
        if identity not in self._pixels:
            self._pixels[identity] = decode((root / file).read_bytes(), what=file, alpha="white").pixels
        self._pixels.move_to_end(identity)
        self._frames[identity] = Frame(self._pixels[identity], identity)
        for shelf, room in ((self._frames, KEPT_FRAMES), (self._pixels, KEPT_PIXELS)):
            while len(shelf) > room:
                shelf.popitem(last=False)
        return self._frames[identity]


_shelf = _Shelf()


@cache
def _metric(name: str) -> Metric:
    return load_metric(name)


def measure_chain(task: Task) -> list[tuple[str, str, Reading]]:
    """(comparison, metric, reading) for everything this task lacks."""
    results = []
    known: dict[tuple[str | None, ...], Reading] = {}
    for comparison in task.comparisons:
        # metrics are pure: an editor that returns what it was given, or has settled, is not measured twice
        same = (comparison.subject, comparison.reference, comparison.via, comparison.operation)
        new = tuple(name for name in comparison.metrics if (*same, name) not in known)
        if new:
            known |= {(*same, name): reading for name, reading in _measure_one(task, comparison, new)}
        results += [(comparison.id, name, known[*same, name]) for name in comparison.metrics]
    return results


def _measure_one(task: Task, comparison: Comparison, metrics: Sequence[str]) -> list[tuple[str, Reading]]:
    root = Path(task.root)

    def frame(identity: str | None) -> Frame | None:
        return None if identity is None else _shelf.frame(root, identity, task.files[identity])

    try:
        reference = frame(comparison.reference)
        subject = frame(comparison.subject)
        via = frame(comparison.via)
    except OSError as error:  # the disk's trouble, not the image's: no value is written down for it
        raise StudyError(f"cannot read {error.filename}: {error.strerror}; cbench verify {root} says more") from error
    except StudyError as error:
        return [(name, Reading(None, "unreadable", str(error))) for name in metrics]
    assert subject is not None
    raw = Item(subject, reference, via, comparison.operation)  # type: ignore[arg-type]
    aligned: Item | Reading | None = None
    readings = []
    for name in metrics:
        metric = _metric(name)
        if not metric.facts.aligned or reference is None:
            readings.append((name, _reading(metric, raw)))
            continue
        if aligned is None:
            aligned = _aligned(raw, task.align)
        readings.append((name, aligned if isinstance(aligned, Reading) else _reading(metric, aligned)))
    return readings


def _reading(metric: Metric, item: Item) -> Reading:
    """A metric's slip is told in one line and leaves no row, so that its mended version fills the gap."""
    try:
        return metric.measure([item])[0]
    except Exception as error:
        raise StudyError(
            f"metric '{metric.facts.name}' failed on {item.subject.id}: {type(error).__name__}: {error}; "
            "what was measured is kept. Mend the metric, or measure without it"
        ) from error


def _aligned(item: Item, mode: AlignMode) -> Item | Reading:
    assert item.reference is not None
    try:
        result = align(item.subject, item.reference, mode)
    except Unmeasurable as reason:
        return Reading(None, reason.status, str(reason))
    return item._replace(subject=result.subject, reference=result.reference)
