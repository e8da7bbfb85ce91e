"""Perception against distortion: closeness to the clean picture and looks alone, on the same pictures, and the front.

Both means are over pictures with a clean one, so that a point is of one set of pictures. The front belongs to a pair
of metrics. It is that of these methods, or of these prompts of one editor; the degraded input can keep a method off it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from convergebench.analysis.restoration.methods import common_pictures, contenders, method_values
from convergebench.analysis.restoration.pictures import PictureValues, picture_values
from convergebench.analysis.restoration.result import INPUT, frame
from convergebench.analysis.restoration.scope import RestorationScope
from convergebench.analysis.trajectories import Mask


def tradeoff_table(scope: RestorationScope) -> pl.DataFrame:
    """The frame `tradeoff`, for every metric with a reference and every one without."""
    rows: list[dict[str, Any]] = []
    first = scope.first_results()
    for metrics in product(scope.reference_metrics, scope.alone_metrics):
        names = dict(zip(("distortion_metric", "perception_metric"), metrics, strict=True))
        for point in _methods(first, scope, metrics):
            prompt = "" if point["name"] == INPUT else scope.unified
            rows.append({**point, **names, "level": "method", "editor": point["name"], "prompt": prompt})
        for editor in scope.editors:
            for point in _prompts(editor, scope, metrics):
                rows.append({**point, **names, "level": "prompt", "editor": editor, "prompt": point["name"]})
    return frame("tradeoff", rows)


def on_front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Whether no other point is as good in both and better in one; more is better."""
    return [not any(one[0] >= own[0] and one[1] >= own[1] and one != own for one in points) for own in points]


def _methods(first: pl.DataFrame, scope: RestorationScope, metrics: tuple[str, str]) -> Iterator[dict[str, Any]]:
    both = [method_values(first, scope, metric) for metric in metrics]
    shared = _shared(both)
    if not shared[0].pictures:
        return
    kept = np.logical_and(*(common_pictures(values, scope) for values in shared))
    able = set(contenders(shared[0], scope)) & set(contenders(shared[1], scope)) | {INPUT}
    yield from _points(shared, kept, able, metrics, scope)


def _prompts(editor: str, scope: RestorationScope, metrics: tuple[str, str]) -> Iterator[dict[str, Any]]:
    prompts = scope.prompts_of(editor)
    if editor in scope.uninstructed or len(prompts) < 2:
        return
    own = scope.restored.filter(pl.col("round") == 1, pl.col("editor") == editor)
    shared = _shared([picture_values(own, scope, metric=metric, by="prompt", names=prompts) for metric in metrics])
    if not shared[0].pictures:
        return
    kept = np.logical_and(*(values.common(scope.settings.coverage) for values in shared))
    covered = np.logical_and(*(values.coverage >= scope.settings.coverage for values in shared))
    able = {name for name, enough in zip(prompts, covered, strict=True) if enough}
    yield from _points(shared, kept, able, metrics, scope)


def _shared(both: list[PictureValues]) -> list[PictureValues]:
    """The two on the pictures that both have rows for."""
    names = set(both[0].pictures) & set(both[1].pictures)
    return [values.on(np.array([one in names for one in values.pictures], dtype=np.bool_)) for values in both]


def _points(
    both: list[PictureValues], kept: Mask, able: set[str], metrics: tuple[str, str], scope: RestorationScope
) -> Iterator[dict[str, Any]]:
    photographs = np.array(both[0].photographs)
    points: list[dict[str, Any]] = []
    for name in both[0].names:
        pair = np.array([values.row(name) for values in both])
        known = kept & ~np.isnan(pair).any(axis=0)
        if known.any():
            means = pair[:, known].mean(axis=1)
            counts = {"n_cases": int(known.sum()), "n_sources": int(np.unique(photographs[known]).size)}
            points.append({"name": name, "distortion": float(means[0]), "perception": float(means[1]), **counts})
    signs = [scope.sign(metric) for metric in metrics]
    rivals = [point for point in points if point["name"] in able]
    turned = [(signs[0] * point["distortion"], signs[1] * point["perception"]) for point in rivals]
    front = dict(zip((point["name"] for point in rivals), on_front(turned), strict=True))
    yield from ({**point, "pareto": front.get(point["name"])} for point in points)
