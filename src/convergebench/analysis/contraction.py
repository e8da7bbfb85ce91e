"""Whether a chain settles: the contraction verdict on one chain.

T is one round trip, D(n) = d(I'ₙ, I₀) the drift, δ(n) = d(I'ₙ, I'ₙ₋₁) the displacement. The contraction factor q and
the pace s that does not shrink come from δ(n)² = a²q²ⁿ + s² (`factor.py`). With the upper end of q for q, Banach's
formulas estimate where the limit is: d(I*, I₀) by δ(1)/(1−q), d(I*, I'ₙ) by δ(n)·q/(1−q). For δ(n) the largest step of
the last third is carried forward, and a step below rounding counts as rounding. They need the triangle inequality, so
they are computed for RMSE only; and since no chain shows the largest factor of T, they are estimates, not bounds.

Verdicts, tested in this order (the window is the last third of the rounds, two at least):
returns    drift never above the rounding floor.
repeats    the last three rounds are, pixel for pixel, the image p rounds before: p = 1 (or steps under the floor)
           settles, p ≥ 2 cycles. These three verdicts need no minimum length.
unknown    the distance was not measured, at all or in too many rounds.
too early  fewer than ten rounds: five rounds of nearly even steps look like a contraction half of the time. Also later,
           where the steps certainly shrink but not yet far enough to tell a limit from a march that slows down.
cycles     for some period p ≥ 2 the image of p rounds ago is nearer than half of δ in the window, while δ itself is
           above the floor and keeps its size from one period to the next (≥ 0.9). A period that still shrinks is
           settling; one with steps under the floor (a few pixels that a codec flips back and forth) is at rest.
settles    a fixed point: δ at the rounding floor in the whole window with drift at rest;
           or a contraction: upper end of q below 0.98, no pace left above rounding, and the steps of the window shrunk
           to a quarter of those of the first third. A slope alone is not enough: a march that slows down has one too;
           or a noise ball: δ stays, but rounds far apart are hardly farther from each other than neighbours.
diverges   lower end of q above 1.02, and the steps of the window a quarter larger than those of the first third.
drifts     anything else.

Steps below a floor measured between replicates show neither rest nor return: the steps of a random walk always are,
since two replicates are √2 steps apart. Such a chain rests in a noise ball or not at all.

The noise ball needs no replicates: the distance between rounds grows with their lag as lag^h, with h = 0 in a ball,
½ on a random walk and 1 on a straight march; h < ¼ in the window is a ball. The slower the pull, the larger h: where q
is certainly below 1, h may be as large as in a ball with the upper end of q. It is then fitted to the rounds in which
the shrinking part has faded. The radius is δ/√2, the root mean square distance of the rounds from their centre.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from convergebench.analysis.factor import contraction_factor
from convergebench.analysis.lags import (
    BALL_GROWTH,
    GROWN,
    SHRUNK,
    ChainDistances,
    at_rest,
    efficiency,
    find_period,
    lag_growth,
    late_share,
    late_step,
    pulled_growth,
    radius,
    repeats,
)
from convergebench.analysis.trajectories import Floats

VERDICTS = ("returns", "settles", "cycles", "diverges", "drifts", "too early", "unknown")
TRUE_DISTANCES = frozenset({"rmse"})
"""Distances for which the triangle inequality holds, hence Banach's formulas may be used."""
FEWEST_ROUNDS = 10
"""Rounds below which it is too early for a verdict."""
EXCEEDED = ((0.01, 0.11), (0.02, 0.15))
"""Share of settling simulated chains whose limit is beyond the first and the second estimate: of all chains, and of the
kind of chain with most of them. From `python -m benchmarks.settling`."""
NEAR_ONE = 0.02
"""|log q| under which neither settling nor diverging is claimed."""


@dataclass(frozen=True, slots=True)
class ChainSettling:
    """The verdict on one chain with its numbers; NaN and None where they are unknown."""

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
    pace: float = np.nan


@dataclass(frozen=True, slots=True)
class SettlingRules:
    """How verdicts are made: the confidence of q's interval, the rounds needed, and whether to estimate the limit."""

    confidence: float = 0.95
    fewest: int = FEWEST_ROUNDS
    bounds: bool = True
    """Whether the distance obeys the triangle inequality."""

    def read(
        self, path: ChainDistances, floor: float, *, rounding: float | None = None, lost: bool = False
    ) -> ChainSettling:
        """The verdict on one chain.

        `rounding` is given where the floor is higher, measured between replicates; `lost` says that the editor made
        pictures that cannot be compared: the verdict is then `unknown`.
        """
        rounds = _last(path.drift)
        drift, lags = path.drift[: rounds + 1], path.lags[:, : rounds + 1]
        still = floor if rounding is None else rounding
        start = ChainSettling(
            verdict="unknown",
            rounds=rounds,
            floor=floor,
            drift=float(drift[-1]) if rounds else np.nan,
            first_displacement=_at(lags[0], 1),
            last_displacement=_at(lags[0], rounds) if rounds else np.nan,
            efficiency=efficiency(drift, lags[0]),
        )
        if not rounds or lost:
            return start
        if np.nanmax(drift[1:]) <= still:
            return replace(start, verdict="returns")
        seen = self._with_factor(start, lags, still)
        period = repeats(lags)
        if period is not None:
            moves = period > 1 and np.median(lags[0, -period:]) > floor
            return replace(seen, verdict="cycles", period=period) if moves else self._settled(seen, lags, still)
        if np.count_nonzero(~np.isnan(lags[0, 1:])) < self.fewest:
            return replace(seen, verdict="too early" if rounds < self.fewest else "unknown")
        return self._judge(seen, drift, lags, still=still)

    def _with_factor(self, start: ChainSettling, lags: Floats, still: float) -> ChainSettling:
        """`start` with q, its interval, the pace and the growth over lags."""
        # steps under the floor keep a small weight: without them the others would seem to level off at the floor
        moved = np.flatnonzero(np.nan_to_num(lags[0]) > 0)
        found = contraction_factor(moved, lags[0, moved], rounding=still, confidence=self.confidence)
        if found is None:
            return replace(start, lag_growth=lag_growth(lags))
        shrinks = found.pace > 0 and found.high <= np.exp(-NEAR_ONE)
        growth = lag_growth(lags, since=found.faded if shrinks else 0.0)
        return replace(start, q=found.q, q_low=found.low, q_high=found.high, pace=found.pace, lag_growth=growth)

    def _judge(self, seen: ChainSettling, drift: Floats, lags: Floats, *, still: float) -> ChainSettling:
        period = find_period(lags, seen.floor)
        if period is not None:
            return replace(seen, verdict="cycles", period=period)
        if at_rest(drift, lags[0], still):
            return self._settled(seen, lags, still)
        shrinks, grows = seen.q_high <= np.exp(-NEAR_ONE), seen.q_low >= np.exp(NEAR_ONE)
        late = late_share(lags[0])
        if shrinks and seen.pace <= still:
            seen = replace(seen, verdict="settles" if late <= SHRUNK else "too early")
            return self._estimated(seen, lags, still)
        if grows and late >= GROWN:
            return replace(seen, verdict="diverges")
        if seen.lag_growth < (max(BALL_GROWTH, pulled_growth(seen.q_high)) if shrinks else BALL_GROWTH):
            return replace(seen, verdict="settles", radius=radius(lags))
        waits = shrinks and np.isnan(seen.lag_growth)
        return replace(seen, verdict="too early" if waits else "drifts")

    def _settled(self, seen: ChainSettling, lags: Floats, still: float) -> ChainSettling:
        return self._estimated(replace(seen, verdict="settles", radius=radius(lags)), lags, still)

    def _estimated(self, seen: ChainSettling, lags: Floats, still: float) -> ChainSettling:
        """`seen` with Banach's estimates at the upper end of q, where they apply."""
        q = seen.q_high
        if not self.bounds or seen.verdict != "settles" or not q < 1:
            return seen
        step = late_step(lags[0], q)
        last = max(step, still) if step > 0 else 0.0  # a step is known only to within rounding
        return replace(seen, prior_bound=seen.first_displacement / (1 - q), posterior_bound=last * q / (1 - q))


def _last(drift: Floats) -> int:
    there = np.flatnonzero(~np.isnan(drift[1:]))
    return int(there[-1]) + 1 if there.size else 0


def _at(series: Floats, place: int) -> float:
    return float(series[place]) if place < series.size else float("nan")
