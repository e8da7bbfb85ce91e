"""Chance anchors: what a metric says of pictures that have nothing to do with the source.

A score means little to a reader who does not know what chance gets. For some sources of a run three pictures of the
source's size are held against it: noise, one even grey, and another source of the run. They belong to no editor, so
they stand in a table of their own. Sizes are equal, so nothing is aligned, whatever the study says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from convergebench.engine.chain_values import DAMAGED
from convergebench.engine.damage import require_undamaged
from convergebench.engine.measure import metric_fingerprint
from convergebench.engine.pool import results
from convergebench.engine.progress import Progress
from convergebench.errors import ConvergeBenchError, StudyError, Unmeasurable
from convergebench.ids import seed_from
from convergebench.images.align import fit
from convergebench.images.decode import decode
from convergebench.images.frame import Frame
from convergebench.metrics import load_metric
from convergebench.metrics.base import LOST, SOURCE_UNFIT, Item, Metric, MetricFacts, Reading
from convergebench.metrics.place import PROCESSOR, Place, move
from convergebench.store.images import DamagedImage, read_image
from convergebench.store.journal import Row
from convergebench.store.run import Run

MOST_SOURCES = 12
"""Sources that are asked for; chance varies little, and a run may have thousands."""
MOST_FOR_NETWORKS = 6
"""The same for networks, of which one picture may take a second."""
NOISE, GREY, OTHER = "noise", "grey", "other"
EVEN_GREY = 128
WORTH_A_PROCESS = 3
"""Sources per process: each has to load the networks first."""
HERE_UP_TO = 20_000_000
"""Pixels, once per metric, that are measured in this process: others would take longer to start than to work."""


@dataclass(frozen=True)
class AnchorTask:
    """The anchors of one source that lack a value. Files are relative to the root."""

    root: str
    source: str
    """Its id in its suite."""
    file: str
    other: str | None
    """The file of another source, if the run has one."""
    missing: Mapping[str, tuple[str, ...]]
    """Anchor → metrics."""
    place: Place


AnchorValue = tuple[str, str, str, Reading]
"""Source, anchor, metric, reading."""


def measure_anchors(
    run: Run,
    metrics: Sequence[str],
    *,
    workers: int | None = None,
    place: Place = PROCESSOR,
    progress: Progress | None = None,
) -> int:
    """Fill in what these metrics say of chance; returns how many rows were added. What is there stays."""
    loaded = {name: metric for name in metrics if takes_anchors((metric := load_metric(name)).facts)}
    identities = {name: metric_fingerprint(metric, place.precision) for name, metric in loaded.items()}
    tasks = list(_tasks(run, loaded, identities, place))
    if not tasks:
        return 0
    progress = progress or Progress()
    progress.steps += sum(len(names) for task in tasks for names in task.missing.values())
    added = 0
    damaged: set[str] = set()
    for values in results(anchors_of, tasks, _processes(run, tasks, loaded, workers)):
        rows: list[Row] = [
            ("anchors", (source, anchor, name, identities[name], reading.value, reading.status, reading.detail))
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
    """Whether a metric holds what came back against the source."""
    return facts.kind in ("full-reference", "semantic") and "return" in facts.roles and not facts.asks


def evenly(names: Sequence[str], most: int) -> list[str]:
    """At most so many of the names, at even distances in their own order; the same ones every time."""
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
    except Unmeasurable as reason:  # a picture that nobody can decode: no anchor is to blame, nothing stops
        gone = Reading(None, SOURCE_UNFIT, str(reason))
        return [(task.source, anchor, name, gone) for anchor, names in task.missing.items() for name in names]
    found: list[AnchorValue] = []
    for name in dict.fromkeys(name for names in task.missing.values() for name in names):
        wanted = [anchor for anchor, names in task.missing.items() if name in names]
        metric = load_metric(name)
        readings = _readings(metric, [Item(pictures[anchor], reference) for anchor in wanted], task.source)
        if any(reading.status in LOST for reading in readings):
            readings = _told_apart(metric, readings, reference, task.source)
        found += [(task.source, anchor, name, reading) for anchor, reading in zip(wanted, readings, strict=True)]
    return found


def noise(source: str, size: tuple[int, int]) -> Frame:
    """Every channel of every pixel drawn evenly from 0 to 255; the same for the same source id and size."""
    width, height = size
    generator = np.random.default_rng(seed_from(f"anchor:{source}", 0))
    return Frame(generator.integers(0, 256, (height, width, 3), dtype=np.uint8), f"{NOISE}:{source}")


@lru_cache(maxsize=1)
def grey(size: tuple[int, int]) -> Frame:
    """One even grey; kept, with what metrics worked out about it, while sources have one size."""
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
    data = read_image(Path(task.root), file)
    try:
        return Frame(decode(data, what=file, alpha="white").pixels, file)
    except StudyError as error:
        raise Unmeasurable("unreadable", str(error)) from error


def _readings(metric: Metric, items: Sequence[Item], source: str) -> list[Reading]:
    try:
        return [_finite(reading) for reading in metric.measure(items)]
    except ConvergeBenchError:
        raise
    except Exception as error:
        raise StudyError(
            f"metric '{metric.facts.name}' failed on the chance anchors of {source}: {type(error).__name__}: {error}; "
            "what was measured is kept. Mend the metric, or measure without it"
        ) from error


def _finite(reading: Reading) -> Reading:
    if reading.value is None or np.isfinite(reading.value):
        return reading
    return Reading(None, "not-finite", "the metric gave no number")


def _told_apart(metric: Metric, readings: list[Reading], reference: Frame, source: str) -> list[Reading]:
    """A picture that cannot be measured is lost; where the source cannot be either, the picture is not to blame."""
    (own,) = _readings(metric, [Item(reference, reference)], source)
    if own.status not in LOST:
        return readings
    return [Reading(None, SOURCE_UNFIT, own.detail) if one.status in LOST else one for one in readings]


def _tasks(
    run: Run, metrics: Mapping[str, Metric], identities: Mapping[str, str], place: Place
) -> Iterator[AnchorTask]:
    query = "select c.source, min(i.id), min(i.file) from cases c join images i on i.id = c.image group by c.source"
    sources = {source: (image, file) for source, image, file in run.journal.rows(f"{query} order by c.source")}
    have = set(run.journal.rows("select source, anchor, metric, fingerprint from anchors"))
    chosen = evenly(list(sources), MOST_SOURCES)
    few = evenly(chosen, MOST_FOR_NETWORKS)
    for source in chosen:
        asked = [name for name, metric in metrics.items() if source in few or not metric.facts.network]
        image, file = sources[source]
        others = [path for identity, path in sources.values() if identity != image]
        # which one is fixed by the source, so that the same command gives the same numbers
        other = others[seed_from(f"other:{source}", 0) % len(others)] if others else None
        missing = {}
        for anchor in (NOISE, GREY, *((OTHER,) if other else ())):
            lacking = tuple(name for name in asked if (source, anchor, name, identities[name]) not in have)
            if lacking:
                missing[anchor] = lacking
        if missing:
            yield AnchorTask(str(run.root), source, file, other, missing, place)


def _processes(run: Run, tasks: Sequence[AnchorTask], metrics: Mapping[str, Metric], workers: int | None) -> int:
    """How many share the work: one where starting others would take longer, or where a device does it."""
    wanted = [(task, name) for task in tasks for names in task.missing.values() for name in names]
    # in this process a network would take all cores, whoever else is at work on them
    networks = any(metrics[name].facts.network for _, name in wanted)
    sizes = dict(run.journal.rows("select file, width * height from images"))
    small = not networks and sum(sizes[task.file] for task, _ in wanted) <= HERE_UP_TO
    if small or tasks[0].place.device != "cpu":
        return 1
    return min(workers or os.cpu_count() or 1, max(1, len(tasks) // WORTH_A_PROCESS))
