"""Measuring: comparisons × metrics − measurements, over stored images.

Work is split by chain and runs in lanes: pixels on all cores, networks on the GPU if there is one. Workers only return
values; this process writes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from convergebench.engine.asker import asked_fingerprint
from convergebench.engine.chain_values import DAMAGED, Comparison, Task, Value, measure_chain
from convergebench.engine.damage import forget_damaged, require_undamaged
from convergebench.engine.pool import results
from convergebench.engine.progress import Progress
from convergebench.ids import fingerprint
from convergebench.images.align import AlignMode
from convergebench.metrics import load_metric
from convergebench.metrics.base import BY_ITSELF, Metric, MetricFacts
from convergebench.metrics.judged._asked import AskedMetric
from convergebench.metrics.place import PROCESSOR, Place
from convergebench.metrics.readiness import require
from convergebench.roles.base import Role
from convergebench.store.journal import Row
from convergebench.store.run import Run, is_complete
from convergebench.types import CompareRole

DEVICE_WORKERS = 2
"""Processes that share a GPU: one decodes while the other computes."""


class Lane(NamedTuple):
    """Metrics that run in the same place, by so many workers."""

    metrics: Mapping[str, Metric]
    place: Place
    workers: int


def fingerprints(names: Sequence[str], *, precision: str = "float32", roles: Mapping[str, Role]) -> dict[str, str]:
    """Every metric with what it is, in one word; for those that are asked, who answers is part of it."""
    found = {}
    for name in names:
        metric = load_metric(name)
        found[name] = (
            asked_fingerprint(metric, roles)
            if isinstance(metric, AskedMetric)
            else metric_fingerprint(metric, precision)
        )
    return found


def sorted_out(names: Sequence[str]) -> tuple[list[str], list[AskedMetric]]:
    """Metrics that are worked out from pixels, and those that are asked for."""
    loaded = {name: load_metric(name) for name in names}
    asked: list[AskedMetric] = [metric for metric in loaded.values() if isinstance(metric, AskedMetric)]
    return [name for name, metric in loaded.items() if not isinstance(metric, AskedMetric)], asked


def metric_fingerprint(metric: Metric, precision: str = "float32") -> str:
    """What a metric is, in one word: its version, its weights, and the precision if that is not the full one."""
    facts = metric.facts
    settings: dict[str, object] = {}
    if facts.weights:
        from convergebench.weights import identity

        settings["weights"] = [identity(name) for name in facts.weights]
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
) -> int:
    """Fill in what is missing; returns how many rows were added (a value that cannot be had is a row with a status).

    Where a file of the run is damaged, nothing is written down: everything else is measured, then a StudyError tells.
    Metrics that are asked for have their own way: `engine.asking`.
    """
    progress = progress or Progress()
    loaded = {name: load_metric(name) for name in metrics}
    require(metric.facts for metric in loaded.values())
    identities = {name: metric_fingerprint(metric, place.precision) for name, metric in loaded.items()}
    forget_damaged(run)
    damaged: set[str] = set()
    lanes = [(lane, list(_tasks(run, lane, align_mode, identities))) for lane in _lanes(loaded, place, workers)]
    for _, tasks in lanes:
        progress.chains += len(tasks)
        progress.steps += sum(len(comparison.metrics) for task in tasks for comparison in task.comparisons)
    added = 0
    for lane, tasks in lanes:
        for values in results(measure_chain, tasks, lane.workers) if tasks else ():
            damaged |= {reading.detail for _, _, reading in values if reading.status == DAMAGED}
            sound = [value for value in values if value[2].status != DAMAGED]
            rows = _rows(sound, loaded, align_mode, identities)
            run.journal.commit_now(rows)
            added += len(rows)
            progress.chains_done += 1
            progress.steps_done += len(rows)
            progress.steps_called += len(rows)
    require_undamaged(run.root, damaged)
    return added


def _lanes(metrics: Mapping[str, Metric], place: Place, workers: int | None) -> Iterator[Lane]:
    """Networks have a lane of their own only where there is a device of their own."""
    everyone = workers or os.cpu_count() or 1
    apart = place.device != "cpu"
    near = {name: one for name, one in metrics.items() if not (apart and one.facts.network)}
    yield Lane(near, place, everyone)
    if apart:
        far = {name: one for name, one in metrics.items() if one.facts.network}
        yield Lane(far, place, min(everyone, DEVICE_WORKERS))


def _rows(
    values: Sequence[Value], metrics: Mapping[str, Metric], align_mode: AlignMode, identities: Mapping[str, str]
) -> list[Row]:
    rows: list[Row] = []
    for comparison, name, reading in values:
        key = (comparison, name, _mode(metrics[name], align_mode), identities[name])
        rows.append(("measurements", (*key, reading.value, reading.status, reading.detail)))
    return rows


def _mode(metric: Metric, align_mode: AlignMode) -> str:
    """A metric that takes images as they come has one value whatever the alignment."""
    return align_mode if metric.facts.aligned else "none"


def _tasks(run: Run, lane: Lane, align_mode: AlignMode, identities: Mapping[str, str]) -> Iterator[Task]:
    """Chains with something to measure, those of one source together so that its planes are worked out once."""
    have = _have(run, lane.metrics, align_mode, identities)
    wanted: dict[str, list[str]] = {}
    for name, metric in lane.metrics.items():
        for role in roles_filled(metric.facts):
            wanted.setdefault(role, []).append(name)
    files: dict[str, str] = dict(run.journal.rows("select id, file from images"))
    words = captions(run)
    rows = run.journal.rows(
        """select k.id, k.role, k.subject, k.reference, k.via, k.operation,
             case when k.role in ('forward', 'backward') then coalesce(s.instruction, '') else '' end,
             c.image, k.editor, k."case"
           from comparisons k join cases c on c.id = k."case"
           left join chain_steps p on p.editor = k.editor and p."case" = k."case" and p.position = k.step
           left join steps s on s.id = p.step
           order by c.image, k.editor, k."case", k.step, k.lag"""
    )
    for (source, *_), group in groupby(rows, key=lambda row: row[7:]):
        comparisons = []
        for identity, role, subject, reference, via, operation, instruction, *_ in group:
            missing = tuple(name for name in wanted.get(role, ()) if (identity, name) not in have)
            if missing:
                told = (instruction, *words.get(instruction, ("", "")))
                comparisons.append(Comparison(identity, role, subject, reference, via, operation, *told, missing))
        if comparisons:
            images = {image for row in comparisons for image in (row.subject, row.reference, row.via) if image}
            chain = {image: files[image] for image in (*images, source)}
            yield Task(str(run.root), align_mode, source, tuple(comparisons), chain, lane.place)


def roles_filled(facts: MetricFacts) -> tuple[CompareRole, ...]:
    """Which comparisons a metric fills in.

    What is held against the source is held against step 1 too; a picture that is rated by itself is also rated where
    its content was meant to change, and where an audit wants it rated though nothing is compared with it.
    """
    more: tuple[CompareRole, ...] = ()
    if "return" in facts.roles and facts.kind in ("full-reference", "semantic"):
        more = ("first",)
    elif "return" in facts.roles and facts.kind == "no-reference":
        more = BY_ITSELF
    return (*facts.roles, *more)


def captions(run: Run) -> dict[str, tuple[str, str]]:
    """Instruction → what the picture shows before and after it, for the pairs whose author said so."""
    found: dict[str, tuple[str, str]] = {}
    spoken: Counter[str] = Counter()
    pairs = run.manifest.pairs if is_complete(run.root) else {}
    for pair in pairs.values():
        without, with_it = pair.get("before", ""), pair.get("after", "")
        if without and with_it:
            for instruction, told in ((pair["forward"], (without, with_it)), (pair["backward"], (with_it, without))):
                spoken[instruction] += found.get(instruction, told) != told
                found[instruction] = told
    return {instruction: told for instruction, told in found.items() if not spoken[instruction]}


def _have(
    run: Run, metrics: Mapping[str, Metric], align_mode: AlignMode, identities: Mapping[str, str]
) -> set[tuple[str, str]]:
    have: set[tuple[str, str]] = set()
    query = "select comparison from measurements where metric = ? and align = ? and fingerprint = ?"
    for name, metric in metrics.items():
        key = (name, _mode(metric, align_mode), identities[name])
        have.update((row[0], name) for row in run.journal.rows(query, key))
    return have
