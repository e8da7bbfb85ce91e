"""Scores per round where a result is restored again, on the pictures that have every round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from convergebench.analysis.restoration.pictures import bounds_of, finite, paired_mean, picture_mean, picture_values
from convergebench.analysis.restoration.result import frame
from convergebench.analysis.restoration.scope import RestorationScope


def refinement_table(scope: RestorationScope) -> pl.DataFrame:
    """The frame `refinement`, under the unified prompt; without a second round it has no rows."""
    rows: list[dict[str, Any]] = []
    unified = scope.unified_results()
    for editor in scope.editors:
        own = unified.filter(pl.col("editor") == editor)
        last = int(own["round"].max() or 0)  # type: ignore[arg-type]
        for metric in scope.metrics if last > 1 else ():
            rows += [{"editor": editor, "metric": metric, **row} for row in _rounds(own, last, metric, scope)]
    return frame("refinement", rows)


def _rounds(own: pl.DataFrame, last: int, metric: str, scope: RestorationScope) -> list[dict[str, Any]]:
    rounds = [str(number) for number in range(1, last + 1)]
    named = own.with_columns(pl.col("round").cast(pl.String))
    values = picture_values(named, scope, metric=metric, by="round", names=rounds)
    if not values.pictures:
        return []
    kept = values.on(values.common(scope.settings.coverage))
    inputs = dict(own.filter(metric=metric).group_by("source").agg(pl.col("before").drop_nulls().first()).iter_rows())
    before = np.array([np.nan if (value := inputs[one]) is None else value for one in kept.pictures], dtype=np.float64)
    kept = replace(kept, names=("0", *rounds), values=np.vstack([before, kept.values]))
    rows = []
    for number, own_values in enumerate(kept.values):
        mean = picture_mean(own_values, kept.photographs, scope, bounds_of(metric, scope))
        n_cases = int((~np.isnan(own_values)).sum())
        row: dict[str, Any] = {
            **{"round": number, "mean": mean.value, "low": mean.low, "high": mean.high, "n_sources": mean.n_sources},
            **{"n_cases": n_cases, "n_missing": len(values.pictures) - n_cases},
        }
        if number:
            gain = paired_mean(scope.sign(metric) * (own_values - kept.values[number - 1]), kept.photographs, scope)
            row |= {"gain": finite(gain.difference), "gain_low": finite(gain.low), "gain_high": finite(gain.high)}
        rows.append(row)
    return rows
