"""Properties of the distances between the rounds of one chain: rest, period, growth over lags."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from convergebench.analysis.trajectories import Floats

REPEATS = 3
"""Rounds that must repeat an earlier image exactly to be proof alone."""
CLEARLY_UNDER = 0.5
KEEPS_SIZE = 0.9
BALL_GROWTH = 0.25
"""Growth over lags below which rounds stay together, for any q."""
PULLED_GROWTH = 0.42
GROWTH_MARGIN = 0.05
"""How far h may exceed the growth that the pull explains; `PULLED_GROWTH` is its limit, as a random walk has 0.5."""
SHRUNK = 0.25
GROWN = 1.25
"""Steps of the last third as a share of those of the first: at most in a chain that contracts, at least in one that
diverges."""


class ChainDistances(NamedTuple):
    """One chain: drift per round 0 … N and distance to the image `lag` rounds before, lags 1 … P; NaN if missing."""

    drift: Floats
    lags: Floats

    @property
    def displacement(self) -> Floats:
        """δ per round; NaN at round 0."""
        return np.asarray(self.lags[0])


def efficiency(drift: Floats, displacement: Floats) -> float:
    """Drift over the length of the path: 1 for a straight march, near 0 for a cycle; NaN with a gap or no path."""
    steps = displacement[1:]
    if not steps.size or np.isnan(steps).any() or np.isnan(drift[-1]) or steps.sum() <= 0:
        return float("nan")
    return float(drift[-1] / steps.sum())


def find_period(lags: Floats, floor: float) -> int | None:
    """Smallest period p ≥ 2 after which the chain returns, with steps above the floor, or None."""
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


def lag_growth(lags: Floats, *, since: float = 0.0) -> float:
    """Exponent h of distance ~ lag^h over the last third of the rounds; NaN with fewer than three lags there.

    Lags that reach back before round `since`, or to the source, do not count.
    """
    window = _window(lags[0])
    usable = [
        (lag, float(np.sqrt(np.mean(row[window] ** 2))))
        for lag, row in enumerate(lags, start=1)
        if not np.isnan(row[window]).any() and window.start - lag >= max(1.0, since)
    ]
    if len(usable) < 3 or min(distance for _, distance in usable) <= 0:
        return float("nan")
    return _exponent(*np.array(usable).T)


def pulled_growth(q: float) -> float:
    """The largest growth over lags that is still evidence for a ball whose noise is pulled back by q."""
    lag = np.arange(1.0, 7.0)
    return min(PULLED_GROWTH, _exponent(lag, np.sqrt(1 - q**lag)) + GROWTH_MARGIN)


def _exponent(lag: Floats, distance: Floats) -> float:
    away = np.log(lag) - np.log(lag).mean()
    return float(away @ np.log(distance) / (away @ away))


def _keeps_size(displacement: Floats, period: int) -> bool:
    """Whether the mean displacement of the last period has not shrunk against the (perhaps partial) one before."""
    last = displacement[-period:]
    before = displacement[max(1, displacement.size - 2 * period) : displacement.size - period]
    if not before.size or np.isnan(before).any() or np.isnan(last).any():
        return False
    return bool(last[-before.size :].mean() >= KEEPS_SIZE * before.mean())


def repeats(lags: Floats) -> int | None:
    """Smallest p for which the last three rounds are exactly the image p rounds before, or None."""
    for lag, row in enumerate(lags, start=1):
        if row.size > REPEATS and np.all(row[-REPEATS:] == 0):
            return lag
    return None


def late_share(displacement: Floats) -> float:
    """Median step of the last third over that of the first third; infinite where the first third stood still."""
    third = -(-(displacement.size - 1) // 3)
    first, last = displacement[1 : third + 1], displacement[_window(displacement)]
    began, ends = float(np.nanmedian(first)), float(np.nanmedian(last))
    return ends / began if began > 0 else (np.inf if ends > 0 else 1.0)


def late_step(displacement: Floats, q: float) -> float:
    """The last step as predicted by the largest of the last third, if each shrinks by q: one small step is luck."""
    window = _window(displacement)
    rounds = np.arange(window.start, window.stop)
    return float(np.nanmax(displacement[window] * q ** (rounds[-1] - rounds)))


def radius(lags: Floats) -> float:
    """Root mean square distance of the window's rounds from their centre."""
    return float(np.nanmedian(lags[0, _window(lags[0])]) / np.sqrt(2))


def at_rest(drift: Floats, displacement: Floats, floor: float) -> bool:
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
