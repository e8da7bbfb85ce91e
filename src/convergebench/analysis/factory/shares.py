"""Shares and means with intervals over source images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from convergebench.analysis.bootstrap import ANYWHERE, Bootstrap, Bounds, by_source
from convergebench.analysis.trajectories import Floats


class Estimate(NamedTuple):
    """A number with its interval, both None where there is none; and over how many source images."""

    value: float | None
    low: float | None
    high: float | None
    n_sources: int


def share_of(hits: Sequence[bool] | Floats, sources: Sequence[str], bootstrap: Bootstrap) -> Estimate:
    """The share of hits; cases of one source belong together."""
    values = np.asarray(hits, dtype=np.float64)[:, None]
    if not values.size:
        return Estimate(None, None, None, 0)
    sums, counts = by_source(values, _numbered(sources))
    found = bootstrap.share(sums, counts)
    return _estimate(float(found.estimate[0]), float(found.low[0]), float(found.high[0]), sums.shape[0])


def mean_of(
    values: Sequence[float] | Floats, sources: Sequence[str], bootstrap: Bootstrap, *, bounds: Bounds = ANYWHERE
) -> Estimate:
    """The mean; cases of one source belong together."""
    column = np.asarray(values, dtype=np.float64)[:, None]
    if not column.size:
        return Estimate(None, None, None, 0)
    sums, counts = by_source(column, _numbered(sources))
    found = bootstrap.ratio(sums, counts, bounds=bounds)
    return _estimate(float(found.estimate[0]), float(found.low[0]), float(found.high[0]), sums.shape[0])


def _numbered(sources: Sequence[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.unique(np.asarray(sources, dtype=str), return_inverse=True)[1].astype(np.int64)


def _estimate(value: float, low: float, high: float, sources: int) -> Estimate:
    there = not (np.isnan(low) or np.isnan(high))
    return Estimate(None if np.isnan(value) else value, low if there else None, high if there else None, sources)
