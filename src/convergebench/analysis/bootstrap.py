"""Intervals by resampling source images.

Cases of one image are not independent, so whole images are drawn, with replacement. Every estimate here is a
function of sums over cases; a draw is a row of multinomial weights, and all draws of all cells are one matrix product.
One weight matrix per number of sources, fixed by the seed, serves every editor and metric: differences stay paired.

With one source there is no interval. With a handful the percentile interval is known to be too narrow (the range of
two images is all that two images can say); the counts printed beside it say when that is so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from convergebench.analysis.result import AnalysisSettings
from convergebench.analysis.trajectories import Floats, Ints, Mask

Statistic = Callable[[Floats], Floats]
"""Totals over sources (… × features) to values (…)."""


class Interval(NamedTuple):
    """Estimates with their ends; NaN where there is none."""

    estimate: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are made; `kind` is `percentile` or `bca` (bias-corrected and accelerated)."""

    draws: int = 2000
    seed: int = 0
    confidence: float = 0.95
    kind: Literal["percentile", "bca"] = "percentile"

    @classmethod
    def of(cls, settings: AnalysisSettings) -> Bootstrap:
        """As the study asks."""
        return cls(settings.draws, settings.seed, settings.confidence, settings.interval)

    def ratio(self, sums: Floats, counts: Floats) -> Interval:
        """Σ sums / Σ counts per column, with interval; both are sources × columns."""
        weights = _weights(sums.shape[0], self.draws, self.seed)
        estimate = _divide(sums.sum(axis=0), counts.sum(axis=0))
        same = counts[:, :1] if counts.shape[1] and (counts == counts[:, :1]).all() else counts
        drawn = _divide(sums.T @ weights.T, same.T @ weights.T)
        left_out = _divide(sums.sum(axis=0) - sums, counts.sum(axis=0) - counts).T if self.kind == "bca" else None
        return self._ends(estimate, drawn, left_out, enough=(counts > 0).sum(axis=0) >= 2)

    def statistic(self, features: Floats, function: Statistic) -> Interval:
        """Any function of feature totals, with interval; features are sources × features."""
        totals = features.sum(axis=0)
        drawn = np.atleast_2d(function(_weights(features.shape[0], self.draws, self.seed) @ features))
        left_out = np.atleast_2d(function(totals - features)) if self.kind == "bca" else None
        return self._ends(np.atleast_1d(function(totals)), drawn, left_out, enough=np.array([features.shape[0] >= 2]))

    def _ends(self, estimate: Floats, drawn: Floats, left_out: Floats | None, *, enough: Mask) -> Interval:
        """Ends per row of `drawn` (cells × draws)."""
        tail = (1 - self.confidence) / 2
        levels = np.tile([tail, 1 - tail], (estimate.size, 1))
        if left_out is not None:
            levels = _accelerated(estimate, drawn, left_out, levels)
        ends = _quantiles(drawn, levels)
        ends[~(enough & np.isfinite(estimate))] = np.nan
        return Interval(estimate, ends[:, 0], ends[:, 1])


def by_source(values: Floats, sources: Ints) -> tuple[Floats, Floats]:
    """Sums and counts of the values that exist: cases × columns to sources × columns, twice."""
    _, place = np.unique(sources, return_inverse=True)
    belongs = np.zeros((int(place.max(initial=-1)) + 1, sources.size))
    belongs[place, np.arange(sources.size)] = 1.0
    there = ~np.isnan(values)
    return belongs @ np.where(there, values, 0.0), belongs @ there.astype(np.float64)


@lru_cache(maxsize=64)
def _weights(sources: int, draws: int, seed: int) -> Floats:
    """How often each source is drawn: draws × sources."""
    generator = np.random.default_rng([seed, sources])
    if sources == 0:
        return np.zeros((draws, 0))
    weights = generator.multinomial(sources, np.full(sources, 1 / sources), size=draws).astype(np.float64)
    weights.setflags(write=False)
    return weights


def _divide(sums: Floats, counts: Floats) -> Floats:
    """Ratio, NaN where nothing was counted."""
    return np.asarray(np.divide(sums, counts, out=np.full(np.shape(sums), np.nan), where=counts > 0))


def _quantiles(drawn: Floats, levels: Floats) -> Floats:
    """Linear-interpolation quantiles of each row at its own two levels; draws without a value do not count."""
    ordered = np.sort(drawn, axis=1)  # NaN goes last
    last = (~np.isnan(ordered)).sum(axis=1) - 1
    place = levels * np.maximum(last, 0)[:, None]
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(last, 0)[:, None])
    low, high = (np.take_along_axis(ordered, index, axis=1) for index in (below, above))
    return np.asarray(low + (high - low) * (place - below))


def _accelerated(estimate: Floats, drawn: Floats, left_out: Floats, levels: Floats) -> Floats:
    """BCa levels (Efron 1987): bias from the share of draws below the estimate, acceleration from the jackknife."""
    draws = drawn.shape[1]
    close = np.abs(drawn - estimate[:, None]) <= 1e-12 * np.maximum(1.0, np.abs(estimate[:, None]))
    below = ((drawn < estimate[:, None]) & ~close).mean(axis=1) + close.mean(axis=1) / 2
    bias = ndtri(np.clip(below, 1 / (draws + 1), draws / (draws + 1)))[:, None]
    known = ~np.isnan(left_out)
    centre = _divide(np.where(known, left_out, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))
    away = np.where(known, centre[:, None] - left_out, 0.0)
    spread = (away**2).sum(axis=1) ** 1.5
    acceleration = np.divide((away**3).sum(axis=1), 6 * spread, out=np.zeros_like(spread), where=spread > 0)[:, None]
    shifted = bias + ndtri(levels)
    return np.asarray(ndtr(bias + shifted / (1 - acceleration * shifted)))
