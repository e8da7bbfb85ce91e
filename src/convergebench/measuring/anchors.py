"""Chance anchors: a metric's value for pictures that are unrelated to the source.

They show what a score at chance level is. For some sources of a run, three pictures of the same size are compared with
the source: noise, uniform grey, and another source. They belong to no editor, so they have a table of their own. Sizes
are equal, so nothing is aligned.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from convergebench.backends.base import Backend
from convergebench.backends.local import LOCAL
from convergebench.errors import StudyError, Unmeasurable
from convergebench.ids import seed_from
from convergebench.images.align import fit
from convergebench.images.decode import decode
from convergebench.images.frame import Frame
from convergebench.measuring.batches import is_given
from convergebench.measuring.damage import require_undamaged
from convergebench.measuring.measure import metric_fingerprint
from convergebench.measuring.readings import readings_of
from convergebench.measuring.worker import DAMAGED
from convergebench.metrics import is_own, load_for_parent, load_metric
from convergebench.metrics.base import LOST, SOURCE_UNFIT, Item, Metric, MetricFacts, Reading
from convergebench.metrics.functions import OwnFunctionMetric
from convergebench.metrics.place import PROCESSOR, Place, move
from convergebench.progress import Progress
from convergebench.store.images import DamagedImage, ImageReader
from convergebench.store.queries.measuring import anchors, source_images
from convergebench.store.run import Run
from convergebench.store.tables import AnchorRow

MOST_SOURCES = 12
"""Sources that are measured; chance levels vary little, and a run may have thousands."""
MOST_FOR_NETWORKS = 6
"""The same for networks, which may take a second per picture."""
NOISE, GREY, OTHER = "noise", "grey", "other"
EVEN_GREY = 128
SOURCES_PER_PROCESS = 3
"""At least: each process has to load the networks first."""
IN_PROCESS_PIXELS = 20_000_000
"""Pixels × metrics up to which no worker is started: starting one would take longer than measuring."""


@dataclass(frozen=True)
class AnchorTask:
    """The anchors of one source that lack a value."""

    images: ImageReader
    source: str
    """Its id in its suite."""
    file: str
    other: str | None
    """The file of another source, if the run has one."""
    missing: Mapping[str, tuple[str, ...]]
    """Anchor → metrics."""
    pixels: int
    """Of the source."""
    place: Place

    def reads(self) -> dict[str, str | None]:
        """File → its image id, where that must be checked."""
        return {file: None for file in (self.file, self.other) if file is not None}


AnchorValue = tuple[str, str, str, Reading]
"""Source, anchor, metric, reading."""


def measure_anchors(
    run: Run,
    metrics: Sequence[str],
    *,
    workers: int | None = None,
    place: Place = PROCESSOR,
    progress: Progress | None = None,
    backend: Backend = LOCAL,
) -> int:
    """Measure the anchors that lack a value; returns how many rows were added."""
    loaded = {name: metric for name in metrics if takes_anchors((metric := load_metric(name)).facts)}
    identities = {name: metric_fingerprint(metric, place.precision) for name, metric in loaded.items()}
    tasks = list(_tasks(run, loaded, identities, place))
    if not tasks:
        return 0
    progress = progress or Progress()
    progress.steps += sum(len(names) for task in tasks for names in task.missing.values())
    added = 0
    damaged: set[str] = set()
    own = any(isinstance(metric, OwnFunctionMetric) for metric in loaded.values())
    where = LOCAL if own else backend
    networks = place if any(metric.facts.network for metric in loaded.values()) else None
    for values in where.results(anchors_of, tasks, _processes(tasks, loaded, workers), place=networks):
        rows = [
            AnchorRow(source, anchor, loaded[name].facts.name, identities[name], *reading)
            for source, anchor, name, reading in values
            if reading.status != DAMAGED
        ]
        damaged |= {reading.detail for *_, reading in values if reading.status == DAMAGED}
        run.journal.commit_now(rows)
        added += len(rows)
        progress.steps_done += len(rows)
        progress.steps_called += len(rows)
    require_undamaged(run.root, damaged)
    return added


def takes_anchors(facts: MetricFacts) -> bool:
    """Whether a metric compares a returned picture with the source."""
    return facts.kind in ("full-reference", "semantic") and "return" in facts.roles and not facts.asks


def evenly(names: Sequence[str], most: int) -> list[str]:
    """At most `most` of the names, evenly spaced; always the same ones."""
    if len(names) <= most:
        return list(names)
    return [names[place * len(names) // most] for place in range(most)]


def anchors_of(task: AnchorTask) -> list[AnchorValue]:
    """(source, anchor, metric, reading) for everything this task lacks."""
    move(task.place)
    try:
        reference = _read(task, task.file)
        pictures = {anchor: _picture(task, anchor, reference) for anchor in task.missing}
    except DamagedImage as error:
        lost = Reading(None, DAMAGED, error.file)
        return [(task.source, anchor, name, lost) for anchor, names in task.missing.items() for name in names]
    except Unmeasurable as reason:  # the source cannot be decoded, which is no fault of an anchor
        gone = Reading(None, SOURCE_UNFIT, str(reason))
        return [(task.source, anchor, name, gone) for anchor, names in task.missing.items() for name in names]
    found: list[AnchorValue] = []
    for name in dict.fromkeys(name for names in task.missing.values() for name in names):
        chosen = [anchor for anchor, names in task.missing.items() if name in names]
        metric = load_for_parent(name) if is_own(name) else load_metric(name)
        readings = _readings(metric, [Item(pictures[anchor], reference) for anchor in chosen], task.source)
        if any(reading.status in LOST for reading in readings):
            readings = _blame_source(metric, readings, reference, task.source)
        found += [(task.source, anchor, name, reading) for anchor, reading in zip(chosen, readings, strict=True)]
    return found


def noise(source: str, size: tuple[int, int]) -> Frame:
    """Uniform noise from 0 to 255, seeded by the source id."""
    width, height = size
    generator = np.random.default_rng(seed_from(f"anchor:{source}", 0))
    return Frame(generator.integers(0, 256, (height, width, 3), dtype=np.uint8), f"{NOISE}:{source}")


@lru_cache(maxsize=1)
def grey(size: tuple[int, int]) -> Frame:
    """Uniform grey; cached with its derived planes while sources have one size."""
    width, height = size
    return Frame(np.full((height, width, 3), EVEN_GREY, dtype=np.uint8), GREY)


def _picture(task: AnchorTask, anchor: str, reference: Frame) -> Frame:
    if anchor == NOISE:
        return noise(task.source, reference.size)
    if anchor == GREY:
        return grey(reference.size)
    assert task.other is not None, "no task asks for another source where there is none"
    return fit(_read(task, task.other), reference.size)


def _read(task: AnchorTask, file: str) -> Frame:
    data = task.images.read(file)
    try:
        return Frame(decode(data, what=file, alpha="white").pixels, file)
    except StudyError as error:
        raise Unmeasurable("unreadable", str(error)) from error


def _readings(metric: Metric, items: Sequence[Item], source: str) -> list[Reading]:
    return [_finite(reading) for reading in readings_of(metric, items, f"the chance anchors of {source}")]


def _finite(reading: Reading) -> Reading:
    if reading.value is None or np.isfinite(reading.value):
        return reading
    return Reading(None, "not-finite", "the metric gave no number")


def _blame_source(metric: Metric, readings: list[Reading], reference: Frame, source: str) -> list[Reading]:
    """Failed readings become `source-unfit` if the metric cannot measure the source either."""
    (own,) = _readings(metric, [Item(reference, reference)], source)
    if own.status not in LOST:
        return readings
    return [Reading(None, SOURCE_UNFIT, own.detail) if one.status in LOST else one for one in readings]


def _tasks(
    run: Run, metrics: Mapping[str, Metric], identities: Mapping[str, str], place: Place
) -> Iterator[AnchorTask]:
    sources = source_images(run.journal)
    have = {(row.source, row.anchor, row.metric, row.fingerprint) for row in anchors(run.journal)}
    chosen = evenly(list(sources), MOST_SOURCES)
    few = evenly(chosen, MOST_FOR_NETWORKS)
    for source in chosen:
        asked = [name for name, metric in metrics.items() if source in few or not metric.facts.network]
        image = sources[source]
        others = [row.file for row in sources.values() if row.id != image.id]
        # chosen by a hash of the source, so that the same command gives the same numbers
        other = others[seed_from(f"other:{source}", 0) % len(others)] if others else None
        missing = {}
        for anchor in (NOISE, GREY, *((OTHER,) if other else ())):
            lacking = tuple(
                name for name in asked if (source, anchor, metrics[name].facts.name, identities[name]) not in have
            )
            if lacking:
                missing[anchor] = lacking
        if missing:
            yield AnchorTask(run.images, source, image.file, other, missing, image.width * image.height, place)


def _processes(tasks: Sequence[AnchorTask], metrics: Mapping[str, Metric], workers: int | None) -> int:
    """How many processes to use: one for small work, or if a GPU does it."""
    missing = [(task, name) for task in tasks for names in task.missing.values() for name in names]
    # in this process a network would take all cores from other work
    networks = any(metrics[name].facts.network for _, name in missing)
    small = not networks and sum(task.pixels for task, _ in missing) <= IN_PROCESS_PIXELS
    if small or tasks[0].place.device != "cpu" or any(is_given(one) for one in metrics.values()):
        return 1
    return min(workers or os.cpu_count() or 1, max(1, len(tasks) // SOURCES_PER_PROCESS))
