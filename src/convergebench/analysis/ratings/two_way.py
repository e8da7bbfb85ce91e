"""Means over raters × pictures where both are a sample: other people would answer otherwise, other pictures too.

The variance of a mean of cells is that between raters plus that between pictures minus that of single cells, which both
contain (Cameron, Gelbach and Miller 2011; for a full table this is the unbiased estimate of the two-way random-effects
model), and never less than either of the two. Student's t has Satterthwaite's degrees of freedom. A bootstrap that
draws raters and pictures expects that of single cells once more and does not correct for few of either.
docs/design/ratings.md has how often the intervals hold the truth (`python -m benchmarks.rating_truth`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.analysis.trajectories import Floats, Ints

FEWEST_RATERS = 3
"""With fewer raters there is neither an interval nor a claim."""


class TwoWayEstimate(NamedTuple):
    """A number with its interval and the two-sided p of its being 0; None with too few raters or pictures."""

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    n_raters: int
    n_sources: int


class TwoWayError(NamedTuple):
    """Standard error and degrees of freedom."""

    error: float
    degrees: float


def numbered(names: Sequence[str]) -> tuple[list[str], Ints]:
    """The different names in order of appearance, and each one's place among them."""
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return list(place), np.array([place[name] for name in names], dtype=np.int64)


def cells(values: Floats, raters: Sequence[str], sources: Sequence[str], *, total: bool = False) -> Floats:
    """Raters × pictures, both `numbered`: the mean (or sum) of the values in each cell, NaN where there is none."""
    (rows, row), (columns, column) = numbered(raters), numbered(sources)
    sums, counts = (np.zeros((len(rows), len(columns))) for _ in range(2))
    np.add.at(sums, (row, column), values)
    np.add.at(counts, (row, column), 1.0)
    return np.where(counts > 0, sums / (1.0 if total else np.maximum(counts, 1)), np.nan)


def two_way_mean(
    table: Floats, confidence: float, *, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> TwoWayEstimate:
    """The mean of the cells of raters × pictures (NaN: not rated) with its interval, cut off at the bounds."""
    there = ~np.isnan(table)
    if not there.any():
        return TwoWayEstimate(None, None, None, None, 0, 0)
    table = table[there.any(axis=1)][:, there.any(axis=0)]
    mean = float(np.nanmean(table))
    return estimate(mean, (table - mean) / int(there.sum()), confidence, bounds=bounds)


def estimate(
    value: float, parts: Floats, confidence: float, *, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> TwoWayEstimate:
    """A number with its interval, from what each cell of raters × pictures adds to it (in all 0; NaN: not rated)."""
    raters, sources = parts.shape
    found = two_way_error(parts)
    if found is None:
        return TwoWayEstimate(value, None, None, None, raters, sources)
    reach = float(stdtrit(found.degrees, 0.5 + confidence / 2)) * found.error
    low, high = max(bounds[0], value - reach), min(bounds[1], value + reach)
    return TwoWayEstimate(value, low, high, _two_sided(value, found, min(raters, sources)), raters, sources)


def two_way_error(parts: Floats) -> TwoWayError | None:
    """The standard error of a sum of cells; None with fewer than three raters or five pictures."""
    raters, sources = parts.shape
    if raters < FEWEST_RATERS or sources < FEWEST_SOURCES:
        return None
    by_rater = raters / (raters - 1) * float((np.nansum(parts, axis=1) ** 2).sum())
    by_source = sources / (sources - 1) * float((np.nansum(parts, axis=0) ** 2).sum())
    variance = max(by_rater + by_source - _of_cells(parts), by_rater, by_source)
    uncertain = by_rater**2 / (raters - 1) + by_source**2 / (sources - 1)
    degrees = variance**2 / uncertain if uncertain > 0 else float(min(raters, sources) - 1)
    return TwoWayError(float(np.sqrt(variance)), max(1.0, degrees))


def _of_cells(parts: Floats) -> float:
    """The variance that single cells add: what is left without the means of raters and of pictures."""
    there = ~np.isnan(parts)
    if there.all():
        left = parts - parts.mean(axis=1, keepdims=True) - parts.mean(axis=0, keepdims=True) + parts.mean()
        rows, columns = parts.shape
        return float(rows * columns * (left**2).sum() / ((rows - 1) * (columns - 1)))
    row, column = np.nonzero(there)
    design = np.zeros((row.size, sum(parts.shape)))
    design[np.arange(row.size), row] = 1.0
    design[np.arange(row.size), parts.shape[0] + column] = 1.0
    fitted, _, rank, _ = np.linalg.lstsq(design, parts[there], rcond=None)
    rest, free = float(((parts[there] - design @ fitted) ** 2).sum()), int(row.size - rank)
    return float(row.size) * rest / free if free > 0 else 0.0


def _two_sided(value: float, found: TwoWayError, fewest: int) -> float:
    if found.error <= 1e-12 * max(1.0, abs(value)):  # all cells alike: only their signs can tell
        return 2.0 ** (1 - fewest) if abs(value) > 1e-12 else 1.0
    return float(2 * stdtr(found.degrees, -abs(value) / found.error))
