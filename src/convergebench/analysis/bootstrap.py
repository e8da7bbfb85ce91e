"""Intervals over source images: how the numbers would vary with other images like these, for the same edits.

Cases of one image are not independent, so whole images are left out or resampled. Every estimate here is a function of
sums over cases, so that all cells of a table take a few array operations.

The default, `corrected-t`, leaves each source out once: the spread of the estimates gives the standard error, Student's
t the width, and Hall's transformation (1992) extends the end on the side of the long tail. `percentile` and `bca`
draw sources with replacement and are too narrow with fewer than about 30. Fewer than `FEWEST_SOURCES` sources have no
interval. docs/design/intervals.md compares the methods and their coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from convergebench.analysis.trajectories import Floats, Ints, Mask
from convergebench.studies.analysis_settings import AnalysisSettings

FEWEST_SOURCES = 5
"""With fewer source images there is no interval: it would be wider than the range of their values."""

FARTHEST = 2.0
"""Limit of the end towards a long tail, in multiples of Student's t; Hall's formula has none with one extreme image."""

PRIOR_SOURCES = 2.0
"""Weight, in sources with the rarer outcome, of the assumption that cases of one source agree."""

Statistic = Callable[[Floats], Floats]
"""Totals over sources (… × features) to values (…)."""

Bounds = tuple[float | Floats, float | Floats]
"""The least and the largest possible value, of all columns or of each."""

ANYWHERE: Bounds = (-np.inf, np.inf)


class Interval(NamedTuple):
    """Estimates with their ends; NaN where there is none."""

    estimate: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are made. Only `percentile` and `bca` use `draws` and `seed`."""

    draws: int = 2000
    seed: int = 0
    confidence: float = 0.95
    kind: Literal["corrected-t", "percentile", "bca"] = "corrected-t"

    @classmethod
    def of(cls, settings: AnalysisSettings) -> Bootstrap:
        """From the settings of a study."""
        return cls(settings.draws, settings.seed, settings.confidence, settings.interval)

    def ratio(self, sums: Floats, counts: Floats, *, bounds: Bounds = ANYWHERE) -> Interval:
        """Σ sums / Σ counts per column, with interval; both are sources × columns."""
        estimate = _divide(sums.sum(axis=0), counts.sum(axis=0))
        left_out = _left_out(sums, counts)
        if self.kind == "corrected-t":
            return self._within(estimate, *self._reach(estimate, left_out, counts.T), left_out, bounds)
        weights = _weights(sums.shape[0], self.draws, self.seed)
        same = counts[:, :1] if counts.shape[1] and (counts == counts[:, :1]).all() else counts
        drawn = _divide(sums.T @ weights.T, same.T @ weights.T)
        return self._within(estimate, *self._drawn(estimate, drawn, left_out), left_out, bounds)

    def statistic(self, features: Floats, function: Statistic, *, bounds: Bounds = ANYWHERE) -> Interval:
        """Any function of feature totals, with interval; features are sources × features, the last one counts cases."""
        totals = features.sum(axis=0)
        estimate = np.atleast_1d(function(totals))
        with np.errstate(divide="ignore", invalid="ignore"):
            left_out = np.atleast_2d(function(totals - features)).copy()
        left_out[:, ~features.any(axis=1)] = np.nan  # a source without a case does not count
        if self.kind == "corrected-t":
            return self._within(estimate, *self._reach(estimate, left_out, features[None, :, -1]), left_out, bounds)
        drawn = np.atleast_2d(function(_weights(features.shape[0], self.draws, self.seed) @ features))
        return self._within(estimate, *self._drawn(estimate, drawn, left_out), left_out, bounds)

    def share(self, hits: Floats, counts: Floats) -> Interval:
        """Σ hits / Σ counts per column, a share of cases, with interval; both are sources × columns.

        Wilson's interval with Student's t on the effective number of cases: the number of cases if those of one source
        are independent, the number of sources if they agree. Shares of 0 and 1 have an interval too.
        """
        cases, sources = counts.sum(axis=0), (counts > 0).sum(axis=0)
        share = _divide(hits.sum(axis=0), cases)
        error, _ = _error_and_skewness(_left_out(hits, counts))
        alone = share * (1 - share)
        as_sources = cases / np.maximum(_effective(counts.T), 1)
        design = np.divide(cases * error**2, alone, out=np.ones_like(alone), where=alone > 0)
        # few sources with the rarer outcome say little about agreement: stay near the cautious value, one per source
        rarer = np.minimum((hits > 0).sum(axis=0), ((hits < counts) & (counts > 0)).sum(axis=0))
        weight = rarer / (rarer + PRIOR_SOURCES)
        design = np.maximum(design, 1) ** weight * np.maximum(as_sources, 1) ** (1 - weight)
        squared = _student(_effective(counts.T), self.confidence) ** 2 / np.clip(cases / design, 1, None)
        middle = (share + squared / 2) / (1 + squared)
        half = np.sqrt(squared * alone + squared**2 / 4) / (1 + squared)
        low, high = np.clip([middle - half, middle + half], 0, 1)
        # the formula includes the share, but rounding may not
        return _where(sources >= FEWEST_SOURCES, share, np.fmin(low, share), np.fmax(high, share))

    def _reach(self, estimate: Floats, left_out: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """The lower and upper half-widths: Student's t, wider on the side of the long tail."""
        error, skewness = _error_and_skewness(left_out)
        noise = 1e-12 * left_out.shape[1] * np.abs(estimate)
        error = np.where(error > noise, error, 0.0)  # all values equal up to rounding
        sources = np.maximum((~np.isnan(left_out)).sum(axis=1), 1)
        student = _student(_effective(np.where(np.isnan(left_out), 0.0, counts)), self.confidence)
        bend = skewness / np.sqrt(sources)
        reach = (_untwisted(student, side * bend) for side in (1, -1))
        down, up = (error * np.clip(far, student, FARTHEST * student) for far in reach)
        return down, up

    def _drawn(self, estimate: Floats, drawn: Floats, left_out: Floats) -> tuple[Floats, Floats]:
        """The half-widths from quantiles of draws (cells × draws)."""
        tail = (1 - self.confidence) / 2
        levels = np.tile([tail, 1 - tail], (estimate.size, 1))
        if self.kind == "bca":
            levels = _accelerated(estimate, drawn, left_out, levels)
        ends = _quantiles(drawn, levels)
        return np.maximum(estimate - ends[:, 0], 0.0), np.maximum(ends[:, 1] - estimate, 0.0)

    def _within(self, estimate: Floats, down: Floats, up: Floats, left_out: Floats, bounds: Bounds) -> Interval:
        if self.kind == "corrected-t":  # draws cannot leave the range
            down, up = _short_of(down, estimate - bounds[0]), _short_of(up, bounds[1] - estimate)
        enough = (~np.isnan(left_out)).sum(axis=1) >= FEWEST_SOURCES
        return _where(enough, estimate, estimate - down, estimate + up)


def by_source(values: Floats, sources: Ints) -> tuple[Floats, Floats]:
    """Sums and counts of the values that are not NaN, both as sources × columns; `values` are cases × columns."""
    _, place = np.unique(sources, return_inverse=True)
    belongs = np.zeros((int(place.max(initial=-1)) + 1, sources.size))
    belongs[place, np.arange(sources.size)] = 1.0
    there = ~np.isnan(values)
    return belongs @ np.where(there, values, 0.0), belongs @ there.astype(np.float64)


@lru_cache(maxsize=64)
def _weights(sources: int, draws: int, seed: int) -> Floats:
    """How often each source is drawn: draws × sources. Equal for every cell, so that differences stay paired."""
    generator = np.random.default_rng([seed, sources])
    if sources == 0:
        return np.zeros((draws, 0))
    weights = generator.multinomial(sources, np.full(sources, 1 / sources), size=draws).astype(np.float64)
    weights.setflags(write=False)
    return weights


def _divide(sums: Floats, counts: Floats) -> Floats:
    """Ratio, NaN where nothing was counted."""
    return np.asarray(np.divide(sums, counts, out=np.full(np.shape(sums), np.nan), where=counts > 0))


def _left_out(sums: Floats, counts: Floats) -> Floats:
    """The ratio without each source: columns × sources, NaN for sources without a value."""
    without = _divide(sums.sum(axis=0) - sums, counts.sum(axis=0) - counts)
    return np.where(counts > 0, without, np.nan).T


def _error_and_skewness(left_out: Floats) -> tuple[Floats, Floats]:
    """Standard error and skewness (unbiased for a normal sample) from estimates without each source, per row."""
    known = ~np.isnan(left_out)
    sources = np.maximum(known.sum(axis=1), 1).astype(np.float64)
    centre = np.where(known, left_out, 0.0).sum(axis=1) / sources
    away = np.where(known, (sources - 1)[:, None] * (centre[:, None] - left_out), 0.0)
    variance = (away**2).sum(axis=1) / np.maximum(sources - 1, 1)
    third = sources * (away**3).sum(axis=1) / np.maximum((sources - 1) * (sources - 2), 1)
    skewness = np.divide(third, variance**1.5, out=np.zeros_like(third), where=variance**1.5 > 0)
    return np.sqrt(variance / sources), skewness


def _effective(counts: Floats) -> Floats:
    """The effective number of sources per row: unequal sizes mean fewer degrees of freedom for t."""
    squares = (counts**2).sum(axis=1)
    return np.asarray(np.divide(counts.sum(axis=1) ** 2, squares, out=np.zeros_like(squares), where=squares > 0))


def _student(sources: Floats, confidence: float) -> Floats:
    return np.asarray(stdtrit(np.maximum(sources - 1, 1), 0.5 + confidence / 2))


def _untwisted(student: Floats, bend: Floats) -> Floats:
    """The inverse of Hall's transformation: the quantile of t for a sample with this skewness over √n."""
    bend = np.where(np.abs(bend) < 1e-6, 1e-6, bend)
    return np.asarray(3 / bend * (np.cbrt(1 + bend * (student - bend / 6)) - 1))


def _short_of(reach: Floats, room: Floats) -> Floats:
    """A half-width limited by the room towards a bound: beyond half the room it approaches the bound from inside."""
    room = np.maximum(room, 0.0)
    part = np.divide(reach, room, out=np.zeros_like(reach), where=(room > 0) & np.isfinite(room))
    near = np.where(np.isfinite(room), room, 0.0) * (1 - np.exp(1 - 2 * np.maximum(part, 0.5)) / 2)
    return np.where(room > 0, np.where(part > 0.5, near, reach), 0.0)


def _where(enough: Mask, estimate: Floats, low: Floats, high: Floats) -> Interval:
    there = enough & np.isfinite(estimate)
    return Interval(estimate, np.where(there, low, np.nan), np.where(there, high, np.nan))


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
