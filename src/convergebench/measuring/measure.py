"""Measuring: comparisons × metrics − measurements, over stored images.

Work is split into batches (`measuring.batches`) and runs in lanes: pixels on all cores, networks on the GPU if there is
one. Workers only return values; this process writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from convergebench.backends.base import Backend
from convergebench.backends.local import LOCAL
from convergebench.ids import fingerprint
from convergebench.images.align import AlignMode
from convergebench.measuring.asker import asked_fingerprint
from convergebench.measuring.batches import Batches, Lane, lanes, mode_of
from convergebench.measuring.damage import forget_damaged, require_undamaged
from convergebench.measuring.task import MeasuredTask, MeasuringTask
from convergebench.measuring.worker import DAMAGED, measure_task
from convergebench.metrics import load_metric
from convergebench.metrics.base import Metric
from convergebench.metrics.functions import OwnFunctionMetric
from convergebench.metrics.judged._asked import AskedMetric
from convergebench.metrics.place import PROCESSOR, Place
from convergebench.metrics.readiness import require
from convergebench.progress import Progress
from convergebench.roles.base import Role
from convergebench.store.queries.measuring import comparisons_by_source, forget_others
from convergebench.store.run import Run
from convergebench.store.tables import MeasurementRow


def fingerprints(names: Sequence[str], *, precision: str = "float32", roles: Mapping[str, Role]) -> dict[str, str]:
    """The fingerprint of every metric; for metrics that ask a role, the role is part of it."""
    found = {}
    for name in names:
        metric = load_metric(name)
        found[name] = (
            asked_fingerprint(metric, roles)
            if isinstance(metric, AskedMetric)
            else metric_fingerprint(metric, precision)
        )
    return found


def split_metrics(names: Sequence[str]) -> tuple[list[str], list[AskedMetric]]:
    """The names of metrics computed from pixels, and the metrics that ask a role."""
    loaded = {name: load_metric(name) for name in names}
    asked: list[AskedMetric] = [metric for metric in loaded.values() if isinstance(metric, AskedMetric)]
    return [name for name, metric in loaded.items() if not isinstance(metric, AskedMetric)], asked


def metric_fingerprint(metric: Metric, precision: str = "float32") -> str:
    """A hash of a metric's version and weights, and of the precision unless it is float32."""
    facts = metric.facts
    settings: dict[str, object] = {}
    if facts.weights:
        from convergebench.weights import identity

        settings["weights"] = [identity(name) for name in facts.weights]
    if isinstance(metric, OwnFunctionMetric):
        settings["code"] = metric.code
    if facts.network and precision != "float32":
        settings["precision"] = precision
    return fingerprint(facts.name, facts.version, settings)


def measure(
    run: Run,
    metrics: Sequence[str],
    *,
    align_mode: AlignMode,
    workers: int | None = None,
    progress: Progress | None = None,
    place: Place = PROCESSOR,
    backend: Backend = LOCAL,
) -> int:
    """Measure what is missing; returns how many rows were added (a failed measurement is a row with a status).

    Nothing is stored about a damaged file: everything else is measured, then `StudyError` is raised. Metrics that ask a
    role are measured by `measuring.asking`.
    """
    progress = progress or Progress()
    loaded = {name: load_metric(name) for name in metrics}
    require(metric.facts for metric in loaded.values())
    identities = {name: metric_fingerprint(metric, place.precision) for name, metric in loaded.items()}
    forget_damaged(run)
    for name, metric in loaded.items():
        if isinstance(metric, OwnFunctionMetric):
            forget_others(run.journal, metric.facts.name, identities[name])
    damaged: set[str] = set()
    files = {identity: row.file for identity, row in run.journal.images().items()}
    waiting: list[tuple[Lane, list[MeasuringTask]]] = []
    before, counts = progress.steps, list[int]()
    for lane in lanes(loaded, place, workers, backend):
        batches = Batches(run, run.journal, lane, align_mode, identities)
        progress.steps += batches.add(comparisons_by_source(run.journal))
        tasks = list(batches.tasks(files.__getitem__))
        progress.chains += sum(task.chains for task in tasks)
        waiting.append((lane, tasks))
        counts.append(progress.steps - sum(counts) - before)
    added = 0
    for (lane, tasks), later in zip(waiting, _later(counts), strict=True):
        progress.unpaced = later
        for done in lane.results(measure_task, tasks) if tasks else ():
            damaged |= {reading.detail for _, _, reading in done.values if reading.status == DAMAGED}
            rows = measurement_rows(done, loaded, align_mode, identities)
            run.journal.commit_now(rows)
            added += len(rows)
            count_measured(progress, done, len(rows))
    require_undamaged(run.root, damaged)
    return added


def _later(counts: Sequence[int]) -> list[int]:
    """For each lane the values of the lanes after it, whose pace nobody knows yet."""
    return [sum(counts[place + 1 :]) for place in range(len(counts))]


def measurement_rows(
    done: MeasuredTask, metrics: Mapping[str, Metric], align_mode: AlignMode, identities: Mapping[str, str]
) -> list[MeasurementRow]:
    """The rows of a finished task, without those of damaged files."""
    return [
        MeasurementRow(
            comparison, metrics[name].facts.name, mode_of(metrics[name], align_mode), identities[name], *reading
        )
        for comparison, name, reading in done.values
        if reading.status != DAMAGED
    ]


def count_measured(progress: Progress, done: MeasuredTask, rows: int) -> None:
    """Count a task that has been measured."""
    progress.chains_done += done.chains
    progress.steps_done += rows
    progress.steps_called += rows
