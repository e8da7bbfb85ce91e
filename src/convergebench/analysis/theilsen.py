"""Theil–Sen slope with a bootstrap interval over rounds.

The slope is the median of the slopes of all pairs of rounds: a quarter of the rounds may be wild without moving it
far. Rounds are drawn with replacement; a draw weights each pair by the product of its rounds' counts, so one sorted
list of pair slopes serves all draws as weighted medians. For independent errors the 95% interval covers in 92% of
chains with four rounds and 93–97% with five to twenty (1,500 simulated chains each), but in 66% with three, where none
is stated. For errors that hang together from round to round it is too narrow.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from convergebench.analysis.trajectories import Floats, Ints

FEWEST = 4
"""Points below which no slope is stated."""


class Slope(NamedTuple):
    """Slope per round with its interval."""

    value: float
    low: float
    high: float


def theil_sen(
    rounds: Ints, values: Floats, *, draws: int = 500, seed: int = 0, confidence: float = 0.95
) -> Slope | None:
    """Median pair slope and percentile interval; None with fewer than four points."""
    count = rounds.size
    if count < FEWEST:
        return None
    first, second = _pairs(count)
    slopes = (values[second] - values[first]) / (rounds[second] - rounds[first])
    order = np.argsort(slopes, kind="stable")
    ordered = slopes[order]
    cumulated = np.cumsum(_pair_weights(count, draws, seed)[:, order], axis=1)
    middle = (2 * cumulated >= cumulated[:, -1:]).argmax(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(ordered[middle], [tail, 1 - tail])
    return Slope(float(np.median(slopes)), float(low), float(high))


@lru_cache(maxsize=128)
def _pairs(count: int) -> tuple[Ints, Ints]:
    first, second = np.triu_indices(count, 1)
    return first, second


@lru_cache(maxsize=128)
def _pair_weights(count: int, draws: int, seed: int) -> Floats:
    """Draws × pairs; a draw that took one round only has no pair and is drawn again."""
    generator = np.random.default_rng([seed, count])
    first, second = _pairs(count)
    counts = generator.multinomial(count, np.full(count, 1 / count), size=draws)
    while (alone := counts.max(axis=1) == count).any():
        counts[alone] = generator.multinomial(count, np.full(count, 1 / count), size=int(alone.sum()))
    return np.asarray((counts[:, first] * counts[:, second]).astype(np.float32))
