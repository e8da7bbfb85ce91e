"""Does a chain settle? The contraction reading of one chain.

T is one round trip, D(n) = d(I'ₙ, I₀) the drift, δ(n) = d(I'ₙ, I'ₙ₋₁) the displacement. The contraction factor q is exp
of the Theil–Sen slope of log δ on n over rounds with δ above the floor. Banach's bounds follow from q < 1: a priori
d(I*, I₀) ≤ δ(1)/(1−q), a posteriori d(I*, I'ₙ) ≤ δ(n)·q/(1−q). They need the triangle inequality, so they are stated
for RMSE only; and since q is a typical factor rather than the largest one, they are estimates of Banach's bounds.

Verdicts, tested in this order (the window is the last third of the rounds, two at least):
returns   drift never above the floor.
cycles    for some period p ≥ 2 the image of p rounds ago is nearer than half of δ in the window, while δ itself is
          above the floor and keeps its size from one period to the next (≥ 0.9). A period that still shrinks is
          settling; one with steps under the floor (a few pixels that a codec flips to and fro) is at rest.
settles   upper end of q below 1 (and q at most 0.98: nearer to 1 is drift, however narrow the interval);
          or δ at the rounding floor in the whole window with drift at rest, a fixed point;
          or a noise ball: δ stays, but rounds far apart are no farther from each other than neighbours.
diverges  lower end of q above 1 (and q at least 1.02).
drifts    anything else, if at least four rounds are above the floor (or all are below it, and drift still grows).
unknown   too few rounds to say, or the distance was not measured.

A floor measured between replicates is no sign of rest: the steps of a random walk are below it for ever, since two
replicates are √2 steps apart. Such a chain rests in a noise ball or not at all.

The noise ball needs no replicates: the distance between rounds grows with their lag as lag^h, with h = 0 in a ball,
½ on a random walk and 1 on a straight march; h < ¼ in the window is a ball. Its radius is δ/√2, the root mean square
distance of its rounds from their centre.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from convergebench.analysis.theilsen import theil_sen
from convergebench.analysis.trajectories import Floats

VERDICTS = ("returns", "settles", "cycles", "diverges", "drifts", "unknown")
TRUE_DISTANCES = frozenset({"rmse"})
"""Distances for which the triangle inequality holds, hence bounds may be stated."""
CLEARLY_UNDER = 0.5
KEEPS_SIZE = 0.9
BALL_GROWTH = 0.25
NEAR_ONE = 0.02
"""|log q| under which neither settling nor diverging is claimed."""
FEWEST_ROUNDS = 3


class Path(NamedTuple):
    """One chain: drift per round 0 … N and distance to the image `lag` rounds before, lags 1 … P; NaN if missing."""

    drift: Floats
    lags: Floats

    @property
    def displacement(self) -> Floats:
        """δ per round; NaN at round 0."""
        return np.asarray(self.lags[0])


@dataclass(frozen=True, slots=True)
class Reading:
    """What one chain says about settling; NaN and None where it says nothing."""

    verdict: str
    rounds: int
    floor: float
    q: float = np.nan
    q_low: float = np.nan
    q_high: float = np.nan
    period: int | None = None
    drift: float = np.nan
    first_displacement: float = np.nan
    last_displacement: float = np.nan
    efficiency: float = np.nan
    prior_bound: float = np.nan
    posterior_bound: float = np.nan
    radius: float = np.nan
    lag_growth: float = np.nan


@dataclass(frozen=True, slots=True)
class Reader:
    """How chains are read: draws and seed of the interval, and whether the distance obeys the triangle inequality."""

    draws: int = 500
    seed: int = 0
    confidence: float = 0.95
    bounds: bool = True

    def read(self, path: Path, floor: float, *, rounding: float | None = None) -> Reading:
        """The verdict on one chain; `rounding` is given where the floor is higher, measured between replicates."""
        rounds = _last(path.drift)
        drift, lags = path.drift[: rounds + 1], path.lags[:, : rounds + 1]
        start = Reading(
            verdict="unknown",
            rounds=rounds,
            floor=floor,
            drift=float(drift[-1]) if rounds else np.nan,
            first_displacement=_at(lags[0], 1),
            last_displacement=_at(lags[0], rounds) if rounds else np.nan,
            efficiency=efficiency(drift, lags[0]),
        )
        if rounds and np.nanmax(drift[1:]) <= floor:
            return replace(start, verdict="returns")
        if np.count_nonzero(~np.isnan(lags[0, 1:])) < FEWEST_ROUNDS:
            return start
        still = floor if rounding is None else rounding
        return self._judge(self._with_factor(start, lags), drift, lags, still=still)

    def _with_factor(self, start: Reading, lags: Floats) -> Reading:
        """The reading with q, its interval and the growth over lags."""
        above = np.flatnonzero(np.nan_to_num(lags[0]) > start.floor)
        logs = np.log(lags[0, above])
        slope = theil_sen(above, logs, draws=self.draws, seed=self.seed, confidence=self.confidence)
        growth = lag_growth(lags)
        if slope is None:
            return replace(start, lag_growth=growth)
        q, low, high = (float(np.exp(end)) for end in slope)
        return replace(start, q=q, q_low=low, q_high=high, lag_growth=growth)

    def _judge(self, seen: Reading, drift: Floats, lags: Floats, *, still: float) -> Reading:
        period = find_period(lags, seen.floor)
        if period is not None:
            return replace(seen, verdict="cycles", period=period)
        radius = float(np.nanmedian(lags[0, _window(drift)])) / np.sqrt(2)
        if _at_rest(drift, lags[0], still):
            return self._bounded(replace(seen, verdict="settles", radius=radius))
        if seen.q_high < 1 and np.log(seen.q) <= -NEAR_ONE:
            return self._bounded(replace(seen, verdict="settles"))
        if seen.lag_growth < BALL_GROWTH:
            return replace(seen, verdict="settles", radius=radius)
        moves = np.nanmax(lags[0]) > seen.floor
        if np.isnan(seen.q) and (moves or (seen.floor > still and np.isnan(seen.lag_growth))):
            return seen  # it moves, or its noise does, but too few rounds say how
        away = seen.q_low > 1 and np.log(seen.q) >= NEAR_ONE
        return replace(seen, verdict="diverges" if away else "drifts")

    def _bounded(self, seen: Reading) -> Reading:
        """The reading with Banach's bounds, where they may be stated."""
        if not self.bounds or not seen.q < 1:
            return seen
        prior = seen.first_displacement / (1 - seen.q)
        posterior = seen.last_displacement * seen.q / (1 - seen.q)
        return replace(seen, prior_bound=prior, posterior_bound=posterior)


def efficiency(drift: Floats, displacement: Floats) -> float:
    """Drift over the length of the path: 1 is a straight march, near 0 a walk around; NaN with a gap or no path."""
    steps = displacement[1:]
    if not steps.size or np.isnan(steps).any() or np.isnan(drift[-1]) or steps.sum() <= 0:
        return float("nan")
    return float(drift[-1] / steps.sum())


def find_period(lags: Floats, floor: float) -> int | None:
    """Smallest period p ≥ 2 at which the chain comes back by steps above the floor, or None."""
    displacement = lags[0]
    window = _window(displacement)
    for period in range(2, lags.shape[0] + 1):
        back = lags[period - 1, window]
        steps = displacement[window]
        known = ~np.isnan(back) & ~np.isnan(steps) & (steps > 0)
        if np.count_nonzero(known) < 2 or np.count_nonzero(known) < known.size:
            continue
        moves = np.median(steps) > floor
        if moves and np.median(back / steps) < CLEARLY_UNDER and _keeps_size(displacement, period):
            return period
    return None


def lag_growth(lags: Floats) -> float:
    """Exponent h of distance ~ lag^h over the last third of the rounds; NaN with fewer than three lags there."""
    window = _window(lags[0])
    usable = [
        (lag + 1, float(np.sqrt(np.mean(row[window] ** 2))))
        for lag, row in enumerate(lags)
        if not np.isnan(row[window]).any() and window.start > lag + 1
    ]
    if len(usable) < 3 or min(distance for _, distance in usable) <= 0:
        return float("nan")
    lag, distance = np.log(np.array(usable)).T
    away = lag - lag.mean()
    return float((away * distance).sum() / (away**2).sum())


def _keeps_size(displacement: Floats, period: int) -> bool:
    """Whether the mean displacement over the last period is that of the period before, or of what there is of it."""
    last = displacement[-period:]
    before = displacement[max(1, displacement.size - 2 * period) : displacement.size - period]
    if not before.size or np.isnan(before).any() or np.isnan(last).any():
        return False
    return bool(last[-before.size :].mean() >= KEEPS_SIZE * before.mean())


def _at_rest(drift: Floats, displacement: Floats, floor: float) -> bool:
    """Displacement at the floor in the whole window, and drift no longer growing by more than the floor."""
    window = _window(drift)
    steps = displacement[window]
    if np.isnan(steps).any() or np.isnan(drift[window]).any():
        return False
    return bool(np.all(steps <= floor) and drift[-1] - drift[window][0] <= floor)


def _window(series: Floats) -> slice:
    """The last third of the rounds, two at least."""
    rounds = series.size - 1
    return slice(series.size - max(2, -(-rounds // 3)), series.size)


def _last(drift: Floats) -> int:
    there = np.flatnonzero(~np.isnan(drift[1:]))
    return int(there[-1]) + 1 if there.size else 0


def _at(series: Floats, place: int) -> float:
    return float(series[place]) if place < series.size else float("nan")
