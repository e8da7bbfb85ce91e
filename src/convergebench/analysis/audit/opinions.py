"""Correlation with people's ratings: linear (PLCC) and by rank (SRCC), where +1 is best.

Intervals are by Fisher's transform, with the variance of Bonett and Wright (2000) for ranks; pictures are taken as
independent. Scaling a score does not change a correlation, so no range is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import atanh, tanh

import numpy as np
import polars as pl
from scipy.special import ndtri

from convergebench.analysis.audit.audit_data import by_name, table, typed
from convergebench.analysis.audit.scaling import better_of
from convergebench.analysis.trajectories import Floats
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts


def opinion_table(opinions: pl.DataFrame, facts: Mapping[str, MetricFacts], confidence: float) -> pl.DataFrame:
    """The frame `opinions`: one row per metric that scored rated pictures."""
    rated = typed(opinions, "opinions")
    rows = []
    for name in sorted(rated["metric"].unique().to_list(), key=by_name):
        better = better_of(name, facts)
        if better not in ("higher", "lower"):
            raise StudyError(
                f"{name} has no known direction, so it cannot be compared with people's ratings; leave it out"
            )
        own = rated.filter(metric=name)
        good = (pl.col("status") == "ok") & pl.col("value").is_finite() & pl.col("mos").is_finite()
        known = own.filter(good.fill_null(False))
        scores = known["value"].to_numpy() * (1.0 if better == "higher" else -1.0)
        ratings = known["mos"].to_numpy()
        row = {"metric": name, "n": known.height, "n_missing": own.height - known.height}
        rows.append(row | _correlations(scores, ratings, confidence))
    return table("opinions", rows)


def _correlations(scores: Floats, ratings: Floats, confidence: float) -> dict[str, float | None]:
    plcc = _pearson(scores, ratings)
    srcc = _pearson(_ranks(scores), _ranks(ratings))
    ends: dict[str, float | None] = {}
    for name, value, more in (("plcc", plcc, 0.0), ("srcc", srcc, 0.5)):
        low, high = _fisher(value, scores.size, more, confidence)
        ends |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return ends


def _ranks(values: Floats) -> Floats:
    return pl.Series(values, dtype=pl.Float64).rank("average").to_numpy()


def _pearson(one: Floats, other: Floats) -> float | None:
    """None where there are fewer than three pictures or one side never changes."""
    if one.size < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    a, b = one - one.mean(), other - other.mean()
    return float(np.clip((a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum()), -1, 1))


def _fisher(value: float | None, n: int, more: float, confidence: float) -> tuple[float | None, float | None]:
    if value is None or n < 4:
        return None, None
    if abs(value) == 1:
        return value, value
    half = float(ndtri(0.5 + confidence / 2)) * ((1 + more * value**2) / (n - 3)) ** 0.5
    return tanh(atanh(value) - half), tanh(atanh(value) + half)
