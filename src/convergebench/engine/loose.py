"""Scoring files that belong to no run: each image by itself or beside a reference, on all cores."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from convergebench.engine.chain_values import Comparison, Task, measure_chain
from convergebench.engine.pool import results
from convergebench.engine.progress import Progress
from convergebench.errors import StudyError
from convergebench.images.align import DEFAULT, AlignMode
from convergebench.metrics import load_metric
from convergebench.metrics.base import Metric, Reading
from convergebench.metrics.place import PROCESSOR, Place
from convergebench.metrics.readiness import require

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".avif")
PER_TASK = 8
"""Images a worker takes at once: enough for a batch, few enough to share out."""


class Scored(NamedTuple):
    """One value of one file."""

    path: str
    reference: str
    metric: str
    reading: Reading


def find_images(paths: Sequence[Path]) -> list[Path]:
    """Files as they are named, folders with every image below them in order."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_file():
            found[path] = None
        elif path.is_dir():
            every = list(path.rglob("*"))
            run = next((one.parent for one in every if one.name == "run.sqlite"), None)
            if run is not None:
                raise StudyError(f"{run} is a run: give it by itself, or name the images you mean")
            below = sorted(one for one in every if one.suffix.lower() in SUFFIXES and one.is_file())
            if not below:
                raise StudyError(f"no image below {path} (looked for {' '.join(SUFFIXES)})")
            found.update(dict.fromkeys(below))
        else:
            raise StudyError(f"{path} is not a run, and no image or folder of that name is there")
    return list(found)


def references_of(images: Sequence[Path], reference: Path | None) -> dict[Path, Path]:
    """One reference for all, or out of a folder the file of the same name (whatever its format) for each."""
    if reference is None:
        return {}
    if reference.is_file():
        return dict.fromkeys(images, reference)
    if not reference.is_dir():
        raise StudyError(f"there is no reference at {reference}")
    by_stem: dict[str, list[Path]] = {}
    for path in find_images([reference]):
        by_stem.setdefault(_stem(path), []).append(path)
    lonely = [path for path in images if _stem(path) not in by_stem]
    if lonely:
        raise StudyError(
            f"{reference} has no image called '{lonely[0].stem}' ({len(lonely)} of {len(images)} have none)"
        )
    return {path: _closest(path, by_stem[_stem(path)]) for path in images}


def _stem(path: Path) -> str:
    """The name without its ending; what one system writes as two signs, another writes as one."""
    return unicodedata.normalize("NFC", path.stem)


def _closest(image: Path, candidates: Sequence[Path]) -> Path:
    """Of several references with the image's name the one below folders of the same names; nothing is guessed."""
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
    """Every metric of every image, image by image as they are done."""
    loaded = {name: load_metric(name) for name in metrics}
    _require_references(loaded, bool(references))
    require(metric.facts for metric in loaded.values())
    progress = progress or Progress()
    tasks = list(_tasks(images, tuple(metrics), references, align_mode, place))
    progress.chains, progress.steps = len(tasks), len(images) * len(metrics)
    for values in results(measure_chain, tasks, workers or os.cpu_count() or 1):
        progress.chains_done += 1
        progress.steps_done += len(values)
        progress.steps_called += len(values)
        for path, name, reading in values:
            yield Scored(path, str(references.get(Path(path), "")), name, reading)


def _require_references(metrics: Mapping[str, Metric], given: bool) -> None:
    comparing = [name for name, one in metrics.items() if one.facts.kind in ("full-reference", "semantic")]
    if comparing and not given:
        raise StudyError(f"{', '.join(comparing)} compares with a reference; add --reference FILE or FOLDER")
    chained = [name for name, one in metrics.items() if one.facts.kind in ("adherence", "diagnostic")]
    if chained:
        raise StudyError(f"{', '.join(chained)} looks at the steps of a chain; give a run instead of loose files")


def _tasks(
    images: Sequence[Path],
    metrics: tuple[str, ...],
    references: Mapping[Path, Path],
    align_mode: AlignMode,
    place: Place,
) -> Iterator[Task]:
    """Lots of images; where all share one reference the worker keeps it, so that the work on it is done once."""
    only = set(references.values())
    shared = _identity(next(iter(only))) if len(only) == 1 else None
    for start in range(0, len(images), PER_TASK):
        lot = images[start : start + PER_TASK]
        beside = {path: references[path] for path in lot if path in references}
        names = {path: _identity(path) for path in (*lot, *beside.values())}
        rows = tuple(_comparison(path, names, beside.get(path), metrics) for path in lot)
        files = {name: str(path.resolve()) for path, name in names.items()}
        yield Task("", align_mode, shared, rows, files, place, loose=True)


def _comparison(path: Path, names: Mapping[Path, str], reference: Path | None, metrics: tuple[str, ...]) -> Comparison:
    beside = names[reference] if reference is not None else None
    return Comparison(str(path), "return", names[path], beside, None, None, "", "", "", metrics)


def _identity(path: Path) -> str:
    """A name for what is in the file now: values are remembered by it, and a file may be written anew."""
    try:
        facts = path.stat()
    except OSError:
        return str(path)  # whoever reads it says what is wrong
    return f"{path.resolve()} ({facts.st_size} bytes, {facts.st_mtime_ns})"
