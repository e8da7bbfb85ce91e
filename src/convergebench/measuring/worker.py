"""The work of a measuring process: the missing values of one task, i.e. of some comparisons of one source image.

Each image is decoded once for all metrics, and derived data of the source is kept while its chains last. Items of
batched metrics wait, as bare pixels, until a batch is full.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from convergebench.errors import StudyError, Unmeasurable
from convergebench.images.align import AlignMode, align
from convergebench.images.frame import Frame
from convergebench.kinds import measured_as
from convergebench.measuring.decoded import DecodedImages
from convergebench.measuring.readings import readings_of
from convergebench.measuring.task import Comparison, MeasuredTask, MeasuringTask, Value
from convergebench.metrics import is_own, load_for_parent, load_metric
from convergebench.metrics.base import LOST, SOURCE_UNFIT, Item, Metric, Reading, batch_size
from convergebench.metrics.operations import expected
from convergebench.metrics.place import move
from convergebench.store.images import DamagedImage

KEPT_READINGS = 4096
"""Values a worker remembers, so that one image under many chains is measured once."""


DAMAGED = "damaged"
"""The status of a reading without a value because a file of the run is damaged (named in the detail): never stored."""
TURNED = ("return", "first", "lag")
"""Comparisons whose reference is first turned or mirrored as the instructions of the chain asked."""


class _Ready(NamedTuple):
    """An item as a metric gets it, and a note on its alignment."""

    item: Item
    note: str = ""


_decoded = DecodedImages()
_known: OrderedDict[tuple[object, ...], Reading] = OrderedDict()
_fit: OrderedDict[tuple[object, ...], bool] = OrderedDict()
"""Whether a metric can measure a source alone."""


_own: dict[str, Metric] = {}
"""Functions of the user's own, as they are in this task: between two tasks of a notebook they may change."""


def _metric(name: str) -> Metric:
    return _own.get(name) or _loaded(name)


@cache
def _loaded(name: str) -> Metric:
    return load_metric(name)


def measure_task(task: MeasuringTask) -> MeasuredTask:
    """Measure all missing values of a task."""
    move(task.place)
    for name in {name for comparison in task.comparisons for name in comparison.metrics if is_own(name)}:
        _own[name] = load_for_parent(name)
    work = _TaskWork(task)
    with _decoded.ahead_of(task):
        for comparison in task.comparisons:
            work.take(comparison)
        work.finish()
    return MeasuredTask(work.values(), task.chains)


def forget() -> None:
    """Drop decoded images and known values, as a new worker process has none."""
    _decoded.clear()
    _known.clear()
    _fit.clear()


class _TaskWork:
    """One task under way."""

    def __init__(self, task: MeasuringTask) -> None:
        self._task = task
        self._readings: dict[tuple[object, ...], Reading] = {}
        self._waiting: dict[str, list[tuple[tuple[object, ...], _Ready]]] = {}

    def take(self, comparison: Comparison) -> None:
        """Measure the unknown values of this comparison, or add them to batches."""
        # metrics are pure: an editor that returns what it was given, or has settled, is not measured twice
        new = []
        for name in comparison.metrics:
            key = self._key(comparison, name)
            if key in _known:
                self._readings[key] = _known[key]
            elif key not in self._readings and all(key != one for one, _ in self._waiting.get(name, ())):
                new.append(name)
        # a no-reference metric must not fail because of an unreadable reference
        alone = [name for name in new if _metric(name).facts.kind == "no-reference"]
        if alone:
            self._measure(comparison._replace(reference=None, via=None), alone)
        if len(alone) < len(new):
            self._measure(comparison, [name for name in new if name not in alone])

    def finish(self) -> None:
        """Measure the incomplete batches."""
        for name in list(self._waiting):
            self._flush(name)

    def values(self) -> list[Value]:
        """Everything, in the order of the task."""
        return [
            (comparison.id, name, self._readings[self._key(comparison, name)])
            for comparison in self._task.comparisons
            for name in comparison.metrics
        ]

    def _key(self, comparison: Comparison, name: str) -> tuple[object, ...]:
        facts = _metric(name).facts
        pair = (comparison.reference, comparison.via) if facts.kind != "no-reference" else ()
        words = (comparison.operation, comparison.instruction, comparison.before, comparison.after) if pair else ()
        mode = self._task.align if facts.aligned else "none"
        code = getattr(_metric(name), "code", "")
        return (name, code, self._task.place, mode, comparison.subject, *pair, *words)

    def _frame(self, identity: str | None) -> Frame | None:
        return None if identity is None else _decoded.frame(self._task, identity)

    def _measure(self, comparison: Comparison, names: Sequence[str]) -> None:
        try:
            reference = self._frame(comparison.reference)
            subject = self._frame(comparison.subject)
            via = self._frame(comparison.via)
        except OSError as error:
            self._unreadable(comparison, names, f"cannot read {error.filename}: {error.strerror}")
            return
        except DamagedImage as error:  # a fault of the disk, not of the image: reported, never stored as a value
            for name in names:
                self._readings[self._key(comparison, name)] = Reading(None, DAMAGED, error.file)
            return
        except StudyError as error:
            self._unreadable(comparison, names, str(error))
            return
        assert subject is not None
        if reference is not None and measured_as(comparison.role, has_reference=True) in TURNED:
            reference = expected(reference, comparison.operation)  # type: ignore[arg-type]
        words = (comparison.instruction, comparison.before, comparison.after)
        raw = _Ready(Item(subject, reference, via, comparison.operation, *words))  # type: ignore[arg-type]
        aligned: _Ready | Reading | None = None
        bares: dict[int, Frame] = {}
        for name in names:
            facts = _metric(name).facts
            key = self._key(comparison, name)
            ready: _Ready | Reading = raw
            if facts.aligned and reference is not None:
                ready = aligned = aligned or _aligned(raw, self._task.align)
            if isinstance(ready, Reading):
                self._remember(key, self._blamed(name, ready, raw))
            elif (size := batch_size(_metric(name), self._task.place)) > 1:
                # a frame that waits must not hold the planes of metrics that do not wait; those that do share one
                subject = ready.item.subject
                bare = bares.setdefault(id(subject), Frame(subject.pixels, subject.id))
                alone = ready._replace(item=ready.item._replace(subject=bare))
                self._waiting.setdefault(name, []).append((key, alone))
                if len(self._waiting[name]) >= size:
                    self._flush(name)
            else:
                (reading,) = readings_of(_metric(name), [ready.item])
                self._remember(key, self._blamed(name, reading, ready))

    def _blamed(self, name: str, reading: Reading, ready: _Ready) -> Reading:
        """The reading with a note on alignment; a failure that the source has too becomes `source-unfit`."""
        if reading.status == "ok":
            return reading if reading.detail else reading._replace(detail=ready.note)
        try:
            if self._task.outside_run or reading.status not in LOST or self._source_is_fit(name, ready.item):
                return reading
        except DamagedImage as error:
            return Reading(None, DAMAGED, error.file)
        return Reading(None, SOURCE_UNFIT, f"{reading.status}: {reading.detail}")

    def _source_is_fit(self, name: str, item: Item) -> bool:
        """Whether the metric can measure the source, against itself if it needs a reference."""
        source = self._frame(self._task.source)
        if source is None:
            return True
        key = (
            name,
            getattr(_metric(name), "code", ""),
            self._task.place,
            source.id,
            item.reference is None,
            item.operation,
            *item[4:],
        )
        if key not in _fit:
            beside = source if item.reference is not None else None
            (own,) = readings_of(_metric(name), [item._replace(subject=source, reference=beside)])
            _fit[key] = own.status not in LOST
            while len(_fit) > KEPT_READINGS:
                _fit.popitem(last=False)
        return _fit[key]

    def _unreadable(self, comparison: Comparison, names: Sequence[str], why: str) -> None:
        """Record a failure of this comparison alone; it is not cached."""
        reading = Reading(None, "unreadable", why)
        try:
            if not self._task.outside_run:
                self._frame(self._task.source)
        except DamagedImage as error:
            reading = Reading(None, DAMAGED, error.file)
        except StudyError:
            reading = Reading(None, SOURCE_UNFIT, why)
        for name in names:
            self._readings[self._key(comparison, name)] = reading

    def _flush(self, name: str) -> None:
        waiting = self._waiting.pop(name)
        readings = readings_of(_metric(name), [ready.item for _, ready in waiting])
        for (key, ready), reading in zip(waiting, readings, strict=True):
            self._remember(key, self._blamed(name, reading, ready))

    def _remember(self, key: tuple[object, ...], reading: Reading) -> None:
        self._readings[key] = reading
        if reading.status == DAMAGED:  # the file may be restored
            return
        _known[key] = reading
        while len(_known) > KEPT_READINGS:
            _known.popitem(last=False)


def _aligned(raw: _Ready, mode: AlignMode) -> _Ready | Reading:
    item = raw.item
    assert item.reference is not None
    try:
        result = align(item.subject, item.reference, mode)
    except Unmeasurable as reason:
        return Reading(None, reason.status, str(reason))
    return raw._replace(item=item._replace(subject=result.subject, reference=result.reference), note=result.describe())
