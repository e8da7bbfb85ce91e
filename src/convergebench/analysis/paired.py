"""Two editors on the same cases: the difference of their scores, its test and its interval, which always agree.

A score is not a mean, so it is linearised at the pooled mean of the two editors: with the slope there, every source has
one difference. Swapping the editors on some sources keeps the pooled mean and flips the sign of these differences, so
their sign-flip test is exact if the editors are exchangeable.

The interval contains every shift that the same test would not reject. It needs no search: swapping a set of sources is
at least as extreme as the observation exactly if the supposed difference is between the mean over the set and the mean
over all other sources, so the ends are order statistics of these means.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isfinite, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import nctdtr, ndtri, stdtrit

from convergebench.analysis.permutation import all_swaps, some_swaps
from convergebench.analysis.trajectories import Floats

PATH = 32
"""Points between two editors at which the slope is averaged where the pooled mean alone does not suffice."""
MANY = 1000
"""Number of sources above which Student's t is taken as normal."""
NONE = float("nan")


class PairedDifference(NamedTuple):
    """One minus other, with the interval (NaN with too few sources for the confidence) and the two-sided p."""

    difference: float
    low: float
    high: float
    p: float
    exact: bool
    n_sources: int
    spread: float
    """Standard deviation of the per-source differences, for `sources_needed`; NaN with one source."""


def compare_paired(
    one: Floats,
    other: Floats,
    score: Callable[[Floats], Floats],
    *,
    confidence: float = 0.95,
    exact_up_to: int = 14,
    permutations: int = 9999,
    seed: int = 0,
) -> PairedDifference:
    """Compare score(one) with score(other); both are sources × features, of which the last is the number of cases.

    Zero is outside the interval exactly if p < 1 − confidence. All swaps are enumerated up to `exact_up_to` sources.
    """
    filled = one[:, -1] > 0
    one, other = one[filled], other[filled]
    sources, cases = one.shape[0], one[:, -1]
    if not sources:
        return PairedDifference(NONE, NONE, NONE, 1.0, exact=True, n_sources=0, spread=NONE)
    difference = float(score(one.sum(axis=0)) - score(other.sum(axis=0)))
    by_source = _differences(one, other, score, difference)
    exact = sources <= exact_up_to
    swaps = all_swaps(sources) if exact else some_swaps(sources, permutations, seed)
    lows, highs = _between(swaps, by_source, cases)
    if not exact:  # the observation is one of the outcomes too
        lows, highs = np.append(lows, -np.inf), np.append(highs, np.inf)
    p = float(((lows <= 0) & (highs >= 0)).mean())
    place = _fewest(lows.size, 1 - confidence) - 1
    ends = float(np.partition(lows, place)[place]), float(-np.partition(-highs, place)[place])
    low, high = ends if all(map(isfinite, ends)) else (NONE, NONE)
    away = (by_source - difference * cases) / cases.mean()
    spread = float(sqrt((away**2).sum() / (sources - 1))) if sources > 1 else NONE
    return PairedDifference(difference, low, high, p, exact, sources, spread)


def smallest_p(sources: int, exact_up_to: int = 14, permutations: int = 9999) -> float:
    """The smallest two-sided p that any outcome could reach: 0.0625 with 5 sources."""
    all_alike = min(1.0, 2.0 ** (1 - sources))
    return all_alike if sources <= exact_up_to else max(all_alike, 1 / (1 + permutations))


def sources_needed(
    difference: float, spread: float, confidence: float = 0.95, pairs: int = 1, power: float = 0.8
) -> int | None:
    """How many sources detect a difference of this size with this power, at the spread seen so far.

    The level is (1 − confidence) / pairs. None where there is no difference, or the spread is unknown.
    """
    level = (1 - confidence) / pairs
    if not (isfinite(difference) and isfinite(spread)) or difference == 0:
        return None
    size = abs(difference) / spread if spread > 0 else float("inf")
    normal = float(((ndtri(1 - level / 2) + ndtri(power)) / size) ** 2)
    if normal > MANY:
        return ceil(normal)
    sources = 2
    while _power(sources, size, level) < power:
        sources += 1
    return sources


def _power(sources: int, size: float, level: float) -> float:
    """The power of Student's paired test at the largest level under `level` that the sign-flip test can reach."""
    step = 2.0 ** (1 - sources)
    reached = min(level, (ceil(level / step) - 1) * step) if sources < 50 else level
    if reached <= 0:
        return 0.0
    if size == float("inf"):
        return 1.0
    critical, shift = stdtrit(sources - 1, 1 - reached / 2), size * sqrt(sources)
    return float(1 - nctdtr(sources - 1, shift, critical) + nctdtr(sources - 1, shift, -critical))


def _differences(one: Floats, other: Floats, score: Callable[[Floats], Floats], difference: float) -> Floats:
    """What each source adds to the difference times the number of cases."""
    above, below, cases = one.sum(axis=0), other.sum(axis=0), one[:, -1].sum()
    step = 1e-6 * (np.abs(one) + np.abs(other)).sum(axis=0)
    straight = (one - other) @ _slope(score, (above + below)[None, :] / 2, step) * cases
    ratio = difference * cases / straight.sum() if straight.sum() else 0.0
    if 0.5 < ratio < 2:
        return np.asarray(ratio * straight)
    # the pooled mean is at a kink, or parts cancel there: average the slope from one editor to the other
    along = (np.arange(PATH)[:, None] + 0.5) / PATH
    straight = (one - other) @ _slope(score, below + along * (above - below), step) * cases
    return np.asarray(straight + (difference - straight.sum() / cases) * one[:, -1])


def _slope(score: Callable[[Floats], Floats], points: Floats, step: Floats) -> Floats:
    """The derivatives of the score, averaged over points (points × features); 0 for the number of cases."""
    found = np.zeros(step.size)
    for feature in np.flatnonzero(step[:-1] > 0):
        aside = np.zeros(step.size)
        aside[feature] = step[feature]
        found[feature] = float(np.mean(score(points + aside) - score(points - aside))) / (2 * step[feature])
    return found


def _between(swaps: Floats, differences: Floats, cases: Floats) -> tuple[Floats, Floats]:
    """Per set of sources: the smaller and the larger of the means inside and outside it, ± infinity for all or none."""
    inside, counted = swaps @ differences, swaps @ cases
    outside, left = differences.sum() - inside, cases.sum() - counted
    proper = (counted > 0) & (left > 0)
    first, second = (
        np.divide(sums, counts, out=np.zeros(sums.size), where=proper)
        for sums, counts in ((inside, counted), (outside, left))
    )
    # means that are equal but for rounding count as equal
    slack = 1e-9 * float(np.abs(differences / cases).max())
    lows, highs = np.minimum(first, second) - slack, np.maximum(first, second) + slack
    return np.where(proper, lows, -np.inf), np.where(proper, highs, np.inf)


def _fewest(outcomes: int, level: float) -> int:
    """The smallest number of outcomes whose share is at least the level."""
    count = max(1, ceil(level * outcomes))
    while count > 1 and (count - 1) / outcomes >= level:
        count -= 1
    while count / outcomes < level:
        count += 1
    return count
