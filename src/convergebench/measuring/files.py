"""Scoring image files outside a run, each alone or against a reference, on all cores."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from convergebench.errors import StudyError
from convergebench.images.align import DEFAULT, AlignMode
from convergebench.measuring.batches import is_given
from convergebench.measuring.measure import count_measured
from convergebench.measuring.task import Comparison, MeasuringTask
from convergebench.measuring.worker import measure_task
from convergebench.metrics import load_metric
from convergebench.metrics.base import Metric, Reading
from convergebench.metrics.place import PROCESSOR, Place
from convergebench.metrics.readiness import require
from convergebench.processes import results
from convergebench.progress import Progress

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".avif")
PER_TASK = 8
"""Images per task: enough for a batch, few enough to spread over workers."""


class Scored(NamedTuple):
    """One value of one file."""

    path: str
    reference: str
    metric: str
    reading: Reading


class PlainFiles:
    """Reads images by their paths; there are no ids to check."""

    def read(self, file: str, identity: str | None = None) -> bytes:
        """The bytes of a file."""
        return Path(file).read_bytes()


def find_images(paths: Sequence[Path]) -> list[Path]:
    """The named files, and every image below the named folders, sorted."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_file():
            found[path] = None
        elif path.is_dir():
            every = list(path.rglob("*"))
            run = next((one.parent for one in every if one.name == "run.sqlite"), None)
            if run is not None:
                raise StudyError(f"{run} is a run: give it alone, or name the images you mean")
            below = sorted(one for one in every if one.suffix.lower() in SUFFIXES and one.is_file())
            if not below:
                raise StudyError(f"no image below {path} (looked for {' '.join(SUFFIXES)})")
            found.update(dict.fromkeys(below))
        else:
            raise StudyError(f"{path} is not a run, and there is no image or folder of that name")
    return list(found)


def references_of(images: Sequence[Path], reference: Path | None) -> dict[Path, Path]:
    """Image → reference: the same file for all, or from a folder the file of the same name in any format."""
    if reference is None:
        return {}
    if reference.is_file():
        return dict.fromkeys(images, reference)
    if not reference.is_dir():
        raise StudyError(f"there is no reference at {reference}")
    by_stem: dict[str, list[Path]] = {}
    for path in find_images([reference]):
        by_stem.setdefault(_stem(path), []).append(path)
    unmatched = [path for path in images if _stem(path) not in by_stem]
    if unmatched:
        raise StudyError(
            f"{reference} has no image called '{unmatched[0].stem}' ({len(unmatched)} of {len(images)} have none)"
        )
    return {path: _closest(path, by_stem[_stem(path)]) for path in images}


def _stem(path: Path) -> str:
    """The name without its suffix, in composed form: file systems differ in how they store accents."""
    return unicodedata.normalize("NFC", path.stem)


def _closest(image: Path, candidates: Sequence[Path]) -> Path:
    """Of several references with the image's name, the one with the most parent folders in common; never a guess."""
    if len(candidates) == 1:
        return candidates[0]
    shared = {path: _folders_in_common(image, path) for path in candidates}
    nearest = [path for path in candidates if shared[path] == max(shared.values())]
    if len({path.parent for path in nearest}) == 1 and any(path.name == image.name for path in nearest):
        nearest = [path for path in nearest if path.name == image.name]
    if len(nearest) > 1:
        raise StudyError(f"{image} could be compared with {nearest[0]} or with {nearest[1]}; leave one of them out")
    return nearest[0]


def _folders_in_common(one: Path, other: Path) -> int:
    pairs = zip(reversed(one.parent.parts), reversed(other.parent.parts), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def score(
    images: Sequence[Path],
    metrics: Sequence[str],
    *,
    references: Mapping[Path, Path],
    align_mode: AlignMode = DEFAULT,
    workers: int | None = None,
    place: Place = PROCESSOR,
    progress: Progress | None = None,
) -> Iterator[Scored]:
    """Every metric of every image, as tasks finish."""
    loaded = {name: load_metric(name) for name in metrics}
    _require_references(loaded, bool(references))
    require(metric.facts for metric in loaded.values())
    progress = progress or Progress()
    tasks = list(_tasks(images, tuple(metrics), references, align_mode, place))
    progress.chains, progress.steps = len(tasks), len(images) * len(metrics)
    processes = 1 if any(is_given(one) for one in loaded.values()) else workers or os.cpu_count() or 1
    for done in results(measure_task, tasks, processes, kept=False):
        count_measured(progress, done, len(done.values))
        for path, name, reading in done.values:
            yield Scored(path, str(references.get(Path(path), "")), loaded[name].facts.name, reading)


def _require_references(metrics: Mapping[str, Metric], given: bool) -> None:
    comparing = [one.facts.name for one in metrics.values() if one.facts.kind in ("full-reference", "semantic")]
    if comparing and not given:
        raise StudyError(f"{', '.join(comparing)} compares with a reference; add --reference FILE or FOLDER")
    chained = [one.facts.name for one in metrics.values() if one.facts.kind in ("adherence", "diagnostic")]
    if chained:
        raise StudyError(f"{', '.join(chained)} needs the steps of a chain; give a run instead of files")


def _tasks(
    images: Sequence[Path],
    metrics: tuple[str, ...],
    references: Mapping[Path, Path],
    align_mode: AlignMode,
    place: Place,
) -> Iterator[MeasuringTask]:
    """Tasks of a few images; a reference shared by all is passed as the source, so that it is processed once."""
    only = set(references.values())
    shared = _identity(next(iter(only))) if len(only) == 1 else None
    for start in range(0, len(images), PER_TASK):
        lot = images[start : start + PER_TASK]
        beside = {path: references[path] for path in lot if path in references}
        names = {path: _identity(path) for path in (*lot, *beside.values())}
        pairs = [(path, names[beside[path]] if path in beside else None) for path in lot]
        rows = tuple(
            Comparison(str(path), "return", names[path], reference, None, None, "", "", "", metrics)
            for path, reference in pairs
        )
        files = {name: str(path.resolve()) for path, name in names.items()}
        yield MeasuringTask(PlainFiles(), align_mode, shared, rows, files, place, outside_run=True)


def _identity(path: Path) -> str:
    """A cache key for the present content of a file, which may be overwritten later."""
    try:
        facts = path.stat()
    except OSError:
        return str(path)  # reading it will raise the error
    return f"{path.resolve()} ({facts.st_size} bytes, {facts.st_mtime_ns})"
