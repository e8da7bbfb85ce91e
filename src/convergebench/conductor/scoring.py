"""Scoring image files that belong to no run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from convergebench.conductor.alignment import check_alignment
from convergebench.conductor.measuring import place_for
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import MeasureOptions
from convergebench.errors import StudyError
from convergebench.images.align import DEFAULT
from convergebench.measuring.asker import role_of
from convergebench.measuring.asking import ask_files
from convergebench.measuring.files import find_images, references_of, score
from convergebench.measuring.measure import split_metrics
from convergebench.metrics import expand, load_metric
from convergebench.metrics.base import Reading
from convergebench.progress import Progress
from convergebench.roles import roles_of


def score_files(
    paths: Sequence[Path],
    metrics: Sequence[str],
    *,
    align: str | None = None,
    reference: Path | None = None,
    instruction: str = "",
    options: MeasureOptions | None = None,
    observer: Observer | None = None,
) -> list[dict[str, object]]:
    """A row per image and metric, in the order in which both were named.

    Its cells: path, reference, metric, value, status, detail.

    Folders stand for the images below them. `reference` is one image for all, or a folder of files with the same names.
    """
    options, observer = options or MeasureOptions(), observer or Observer()
    images = find_images(paths)
    if not metrics:
        raise StudyError("name what to measure, e.g. --metric niqe, or --metric lpips --reference FILE")
    references = references_of(images, reference)
    pixels, questions = split_metrics(expand(metrics))
    roles = roles_of({"roles": options.roles or {}})
    for question in questions:
        role_of(question, roles)  # a question without a role to answer it is refused before the work
    place = place_for(pixels, options.device, options.precision or "float32")
    found: dict[tuple[str, str], Reading] = {}
    progress = Progress()
    with observer.watch("measuring", progress, unit="values", of="lots"):
        if pixels:
            for one in score(
                images,
                pixels,
                references=references,
                align_mode=check_alignment(align) or DEFAULT,
                workers=options.workers,
                place=place,
                progress=progress,
            ):
                found[one.path, one.metric] = one.reading
        if questions:
            answers = ask_files(
                images,
                questions,
                roles,
                references=references,
                instruction=instruction,
                max_cost=options.max_cost,
                progress=progress,
            )
            for path, readings in zip(images, answers, strict=True):
                found.update({(str(path), name): reading for name, reading in readings.items()})
    names = [*(load_metric(name).facts.name for name in pixels), *(one.facts.name for one in questions)]
    return [
        {
            "path": str(path),
            "reference": str(references.get(path, "")),
            "metric": name,
            **found[str(path), name]._asdict(),
        }
        for path in images
        for name in names
    ]
