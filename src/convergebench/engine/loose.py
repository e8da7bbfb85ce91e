"""Scoring files that belong to no run: each image by itself or beside a reference, on all cores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from convergebench.engine.chain_values import Comparison, Task, measure_chain
from convergebench.engine.pool import results
from convergebench.engine.progress import Progress
from convergebench.errors import StudyError
from convergebench.images.align import AlignMode
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
            below = sorted(one for one in path.rglob("*") if one.suffix.lower() in SUFFIXES and one.is_file())
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
    by_stem = {path.stem: path for path in reversed(find_images([reference]))}
    lonely = [path for path in images if path.stem not in by_stem]
    if lonely:
        raise StudyError(
            f"{reference} has no image called '{lonely[0].stem}' ({len(lonely)} of {len(images)} have none)"
        )
    return {path: by_stem[path.stem] for path in images}


def score(
    images: Sequence[Path],
    metrics: Sequence[str],
    *,
    references: Mapping[Path, Path],
    align_mode: AlignMode = "strict",
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
    """Lots of images that share a reference, so that the work on it is done once per lot."""
    for reference, group in groupby(images, key=references.get):
        members = list(group)
        for start in range(0, len(members), PER_TASK):
            lot = members[start : start + PER_TASK]
            beside = str(reference) if reference else None
            rows = tuple(
                Comparison(str(path), "return", str(path), beside, None, None, "", "", "", metrics) for path in lot
            )
            names = [str(path) for path in lot] + ([beside] if beside else [])
            files = {name: str(Path(name).resolve()) for name in names}
            yield Task("", align_mode, beside, rows, files, place)
