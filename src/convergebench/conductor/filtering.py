"""Sort the images of a folder into those that a no-reference metric lets pass and those that it does not."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import cast

from convergebench.conductor.filter_lots import DECAY, FilterLot, MeasuredImage, MeasuredLot, find_in, measure_lot
from convergebench.conductor.filter_output import FilterOutput, FilterPlaces, written
from convergebench.conductor.measuring import place_for
from convergebench.conductor.observer import Observer
from convergebench.datasets.atomic import require_free
from convergebench.errors import StudyError
from convergebench.measuring.batches import is_given
from convergebench.measuring.files import PER_TASK, SUFFIXES
from convergebench.metrics import expand, load_metric
from convergebench.metrics.base import Metric, MetricFacts, Reading, batch_size
from convergebench.metrics.no_reference.decay_rates import USUAL_FALSE_ALARMS, DecayRates, LimitRates, decay_rates
from convergebench.metrics.readiness import require
from convergebench.processes import results
from convergebench.progress import Progress

PASSED, REFUSED, UNKNOWN, NO_VALUE = "passed", "refused", "unknown", "no-value"


@dataclass(frozen=True)
class FilterOptions:
    """What is asked of the images, and where the answer goes. Of `highest`, `lowest`, `false_alarms` at most one."""

    metric: str = DECAY
    highest: float | None = None
    """Pass up to this value, where lower is better (`--max`)."""
    lowest: float | None = None
    """Pass from this value on, where higher is better (`--min`)."""
    false_alarms: float | None = None
    """Take the limit that refused at most this share of untouched photographs in the test of `decay`."""
    recursive: bool = True
    places: FilterPlaces = field(default_factory=FilterPlaces)
    workers: int | None = None


@dataclass(frozen=True)
class FilterLimit:
    """The value that decides."""

    metric: str
    version: int
    value: float
    upper: bool
    """Whether values up to it pass; else those from it on."""
    share: float | None = None
    """Where the limit comes from the test: the share of false alarms that it was chosen for."""
    rates: LimitRates | None = None
    """How often it was wrong in the test, None where it was not tested."""
    tested: DecayRates | None = None
    """The whole test, None for metrics without one."""

    def passes(self, value: float) -> bool:
        """Whether an image of this value does; the limit itself passes."""
        return value <= self.value if self.upper else value >= self.value

    @property
    def words(self) -> str:
        """`decay ≤ 20`."""
        return f"{self.metric} {'≤' if self.upper else '≥'} {self.value:g}"


@dataclass(frozen=True)
class Filtered:
    """How many images passed."""

    folder: Path
    limit: FilterLimit
    verdicts: Counter[str]
    statuses: Counter[str]
    """Why images have no value, each reason with its number."""
    other_files: int
    unlisted: int
    """Images whose names have a line break, which a list cannot hold."""

    @property
    def images(self) -> int:
        """All of them."""
        return self.verdicts.total()

    @property
    def refused_share(self) -> float | None:
        """Refused and without a value, of all but the unknown; None if all are unknown."""
        judged = self.images - self.verdicts[UNKNOWN]
        return (self.verdicts[REFUSED] + self.verdicts[NO_VALUE]) / judged if judged else None


def filter_folder(folder: Path, options: FilterOptions | None = None, observer: Observer | None = None) -> Filtered:
    """Judge every image of a folder, and write what `options.places` asks for; nothing if it is stopped before."""
    options, observer = options or FilterOptions(), observer or Observer()
    name, metric = _chosen(options.metric)
    limit = choose_limit(metric.facts, options)
    _require_places(folder, options.places)
    require([metric.facts])
    names, others = find_in(folder, recursive=options.recursive)
    if not names:
        below = "" if options.recursive else "; to look in the folders below it too, leave out --flat"
        raise StudyError(f"no image in {folder} (looked for {' '.join(SUFFIXES)}){below}")
    place = place_for([name], "auto", "float32")
    size = max(PER_TASK, batch_size(metric, place))
    lots = [
        FilterLot(number, folder, names[start : start + size], name, place)
        for number, start in enumerate(range(0, len(names), size))
    ]
    workers = 1 if is_given(metric) else options.workers or os.cpu_count() or 1
    progress = Progress(chains=len(lots), steps=len(names))
    verdicts, statuses = Counter[str](), Counter[str]()
    measured = cast("Generator[MeasuredLot, None, None]", results(measure_lot, lots, workers, kept=False))
    with (
        written(options.places) as output,
        observer.watch("filtering", progress, unit="images", of="lots"),
        closing(measured),  # after Ctrl-C no process works on
    ):
        for lot in _in_order(measured, progress):
            for image in lot.images:
                verdict, kept = _taken(image, folder, limit, output)
                verdicts[verdict] += 1
                if kept.reading.value is None:
                    statuses[kept.reading.status] += 1
    return Filtered(folder, limit, verdicts, statuses, others, output.unlisted)


def choose_limit(facts: MetricFacts, options: FilterOptions) -> FilterLimit:
    """The limit that was asked for; of `decay` without one, that of the usual false alarms."""
    given = {
        flag: value
        for flag, value in (
            ("--max", options.highest), ("--min", options.lowest), ("--false-alarms", options.false_alarms)
        )
        if value is not None
    }  # fmt: skip
    if len(given) > 1:
        raise StudyError(f"give one of {' and '.join(given)}, not both")
    flag, value = next(iter(given.items()), ("", 0.0))
    if flag and not isfinite(value):
        raise StudyError(f"{flag} {value}: give a number, such as {flag} {0.05 if flag == '--false-alarms' else 20}")
    if facts.better == "neither":
        raise StudyError(f"{facts.name} has no better end, so no limit sorts by it; use another (cbench list metrics)")
    upper = facts.better == "lower"
    right, wrong = ("--max", "--min") if upper else ("--min", "--max")
    if flag == wrong:
        raise StudyError(f"{facts.better} values of {facts.name} are better: type {right} {value:g}, not {wrong}")
    tested = decay_rates() if options.metric == DECAY else None
    if tested is None and flag != right:
        raise StudyError(f"{facts.name} has no tested limits; type {right} X ({facts.better} values are better)")
    if tested is None or flag == right:
        return FilterLimit(
            facts.name, facts.version, value, upper, rates=tested.at(value) if tested else None, tested=tested
        )
    share = value if flag else USUAL_FALSE_ALARMS
    if not 0 < share < 1:
        raise StudyError(f"--false-alarms {share:g}: give a share between 0 and 1, such as 0.05")
    row = tested.strictest(share)
    if row is None:
        least = min(tested.limits, key=lambda one: one.false_alarms.share)
        raise StudyError(
            f"--false-alarms {share:g}: no tested limit refused so few untouched photographs; the fewest, "
            f"{least.false_alarms.words}, has --max {least.limit:g}"
        )
    return FilterLimit(facts.name, facts.version, row.limit, upper, share=share, rates=row, tested=tested)


def _chosen(asked: str) -> tuple[str, Metric]:
    """The metric as processes find it, if it rates single images from their pixels."""
    names = expand([asked])
    if len(names) > 1:
        raise StudyError(f"'{asked}' is a set of {len(names)} metrics; name one (cbench list metrics)")
    metric = load_metric(names[0])
    facts = metric.facts
    if facts.kind != "no-reference" or facts.asks:
        why = f"asks a {facts.asks}" if facts.asks else "does not rate an image by itself"
        raise StudyError(f"{facts.name} {why}; filter with a no-reference metric, e.g. --metric {DECAY}")
    return names[0], metric


def _require_places(folder: Path, places: FilterPlaces) -> None:
    if folder.is_file():
        raise StudyError(f"{folder} is a file; name a folder of images (one file: cbench measure {folder} -m {DECAY})")
    if not folder.is_dir():
        raise StudyError(f"there is no folder {folder}")
    places.check(folder)
    for flag, place in (("--copy-to", places.copy_to), ("--link-to", places.link_to)):
        if place is not None:
            require_free(place, flag)


def _in_order(done: Iterable[MeasuredLot], progress: Progress) -> Iterator[MeasuredLot]:
    """Lots by their numbers, whichever was ready first."""
    early: dict[int, MeasuredLot] = {}
    wanted = 0
    for lot in done:
        progress.chains_done += 1
        progress.steps_done += len(lot.images)
        progress.steps_called += len(lot.images)
        early[lot.number] = lot
        while wanted in early:
            yield early.pop(wanted)
            wanted += 1


def _taken(image: MeasuredImage, folder: Path, limit: FilterLimit, output: FilterOutput) -> tuple[str, MeasuredImage]:
    """Write what is asked for about one image; returns its verdict, and what is known of it in the end."""
    path = folder / image.name
    verdict = verdict_of(image, limit)
    if verdict == PASSED:
        try:
            output.passes(path, image.name)
        except OSError as error:
            if error.filename != str(path):  # the disk is full: not the fault of this image
                raise
            gone = Reading(None, "unreadable", f"cannot read {path}: {error.strerror}")
            verdict, image = NO_VALUE, MeasuredImage(image.name, gone)
        else:
            output.listed("keep", path)
    if verdict in (REFUSED, NO_VALUE):
        output.listed("drop", path)
    output.row(
        {
            "path": str(path),
            "verdict": verdict,
            "metric": limit.metric,
            **image.reading._asdict(),
            "remakings": image.remakings,
            "remakings_low": image.low,
            "remakings_high": image.high,
        }
    )
    return verdict, image


def verdict_of(image: MeasuredImage, limit: FilterLimit) -> str:
    """`passed`, `refused`, `no-value`, or `unknown` where the limit says nothing about such a picture."""
    if image.reading.value is None:
        return NO_VALUE
    if not image.known:
        return UNKNOWN
    return PASSED if limit.passes(image.reading.value) else REFUSED
