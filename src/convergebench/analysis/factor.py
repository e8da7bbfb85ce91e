"""The contraction factor of one chain, with a constant noise term in the model.

The displacement of a random editor that contracts by q obeys δ(n)² = a²·q²ⁿ + s² exactly: a part that shrinks and a
constant pace s kept up by noise (s² = 2σ²/(1 + q) for noise σ per round). A slope of log δ mistakes that flat tail for
a slower q; this fit does not. It is least squares on log δ with Huber weights, by grids over q and s that narrow around
the optimum; the amplitude follows from both.

The interval is the profile over s: every q that fits about as well as the best with some s ≥ 0 (F test, three
parameters). The stated q is that of the model without s where AICc prefers it, and where q may be 1, so that nothing is
known to shrink. Rounds have a relative error of at least 1 %, more near the rounding floor, where the errors of
neighbouring rounds correlate. `python -m benchmarks.settling` measures how often the interval covers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from convergebench.analysis.trajectories import Floats, Ints

FEWEST = 4
"""Fewest rounds for a factor: one more than the three parameters."""
FASTEST, SLOWEST = 0.05, 2.0
"""Range of the search; an interval that reaches one of these ends is open there."""
SUREST = 0.01
"""Least error of log δ, as a standard deviation."""
HUBER = 3.0
"""Standard deviations beyond which a round counts less."""
ROUNDING_ERROR = 0.25
"""Error of a displacement as a share of the rounding floor: a step as small as the floor is known to 25 %."""

_FACTORS = np.concatenate([-np.geomspace(-np.log(FASTEST), 0.004, 48), [0.0], np.geomspace(0.004, np.log(SLOWEST), 24)])
_PACES = np.concatenate([[-300.0], np.linspace(-6.0, 6.0, 25)])
"""Logarithms: of q, and of s relative to the largest shrinking part; the first pace stands for s = 0."""


class ContractionFactor(NamedTuple):
    """q with its interval, and the constant pace s (0 where the rounds show none)."""

    q: float
    low: float
    high: float
    pace: float
    faded: float
    """Round after which the shrinking part is less than half of the pace; infinite without a pace."""


class _Rounds(NamedTuple):
    """Rounds, the logarithms of their displacements, and their weights."""

    rounds: Floats
    logs: Floats
    weights: Floats


class _Profile(NamedTuple):
    """Per factor the least error that a pace can reach, and that pace."""

    error: Floats
    pace: Floats


def contraction_factor(
    rounds: Ints, displacement: Floats, *, rounding: float = 0.0, confidence: float = 0.95
) -> ContractionFactor | None:
    """Fit δ(n)² = a²q²ⁿ + s² to displacements above 0; None with fewer than four rounds.

    `rounding` is the displacement that 8-bit rounding alone can make; steps near it are known less well.
    """
    if rounds.size < FEWEST:
        return None
    known = SUREST**2 / (SUREST**2 + (ROUNDING_ERROR * rounding / displacement) ** 2)
    data = _reweighted(_Rounds(rounds.astype(np.float64), np.log(displacement), known))
    coarse = _profile(data, _FACTORS).error
    best, least, pace = _narrowed(data, coarse)
    free = rounds.size - 3
    # F with one degree of freedom is t squared
    allowed = least + max(least / free, SUREST**2) * float(stdtrit(free, (1 + confidence) / 2)) ** 2
    low, high = (_end(data, coarse, best, allowed, side) for side in (-1, 1))
    plain, plain_least = _straight(data)
    sure = SUREST**2 * float(data.weights.mean())
    needless = low <= 0 <= high or _aicc(plain_least, rounds.size, 3, sure) <= _aicc(least, rounds.size, 4, sure)
    stated = min(max(plain, low), high) if needless else best
    stays, faded = (0.0, np.inf) if needless else _remainder(data, best, pace)
    return ContractionFactor(float(np.exp(stated)), float(np.exp(low)), float(np.exp(high)), stays, faded)


def _profile(data: _Rounds, factors: Floats) -> _Profile:
    """Weighted squared error of each factor (a logarithm) at its best pace, found by narrowing twice."""
    shrinking = _shrinking(factors, data.rounds)
    paces, step = np.tile(_PACES, (factors.size, 1)), float(_PACES[2] - _PACES[1])
    error = np.full(factors.size, np.inf)
    pace = np.full(factors.size, _PACES[0])
    for _ in range(3):
        found = _errors(data, _model(shrinking, paces))
        at = found.argmin(axis=1)[:, None]
        centre, reached = np.take_along_axis(paces, at, 1), np.take_along_axis(found, at, 1)[:, 0]
        pace = np.where(reached < error, centre[:, 0], pace)
        error = np.minimum(error, reached)
        step /= 4
        paces = centre + step * np.arange(-4, 5)
    return _Profile(error, pace)


def _shrinking(factors: Floats, rounds: Floats) -> Floats:
    """q²ⁿ, largest round 1: factors × 1 × rounds."""
    shrinking = factors[:, None] * rounds
    return np.asarray(np.exp(2 * (shrinking - shrinking.max(axis=1, keepdims=True)))[:, None, :])


def _model(shrinking: Floats, paces: Floats) -> Floats:
    return np.asarray(0.5 * np.log(shrinking + np.exp(2 * paces)[..., None]))


def _errors(data: _Rounds, model: Floats) -> Floats:
    """Weighted squared error at the best amplitude, over the last axis."""
    away = data.logs - model
    return np.asarray((away**2) @ data.weights - (away @ data.weights) ** 2 / data.weights.sum())


def _narrowed(data: _Rounds, errors: Floats) -> tuple[float, float, float]:
    """The best factor between those of the grid, its error and its pace."""
    at = int(errors.argmin())
    low, high = _FACTORS[max(at - 1, 0)], _FACTORS[min(at + 1, _FACTORS.size - 1)]
    best = (np.nan, np.inf, np.nan)
    for _ in range(3):
        grid = np.linspace(low, high, 9)
        seen = _profile(data, grid)
        at = int(seen.error.argmin())
        if seen.error[at] < best[1]:
            best = (float(grid[at]), float(seen.error[at]), float(seen.pace[at]))
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, grid.size - 1)]
    return best


def _straight(data: _Rounds) -> tuple[float, float]:
    """Slope of log δ on n, the factor without a pace, and its error."""
    total = data.weights.sum()
    across = data.rounds - data.rounds @ data.weights / total
    slope = float((across * data.weights) @ data.logs / ((across * data.weights) @ across))
    slope = min(max(slope, float(_FACTORS[0])), float(_FACTORS[-1]))
    return slope, float(_errors(data, slope * data.rounds))


def _end(data: _Rounds, errors: Floats, best: float, allowed: float, side: int) -> float:
    """The farthest factor on this side of the best whose error is allowed, at most the end of the grid."""
    on_side = side * (_FACTORS - best) > 0
    beyond, fits = _FACTORS[on_side][::side], (errors[on_side] <= allowed)[::side]
    if not beyond.size or fits[-1]:
        return float(beyond[-1]) if beyond.size else best
    last = int(np.flatnonzero(fits)[-1]) if fits.any() else -1
    inner, outer = float(beyond[last]) if last >= 0 else best, float(beyond[last + 1])
    for _ in range(2):
        grid = np.linspace(inner, outer, 9)
        inside = np.flatnonzero(_profile(data, grid).error <= allowed)
        at = int(inside[-1]) if inside.size else 0
        inner, outer = float(grid[at]), float(grid[min(at + 1, grid.size - 1)])
    return outer


def _reweighted(data: _Rounds) -> _Rounds:
    """The rounds with lower weights for those far from the fit."""
    models = _coarse_models(data.rounds.tobytes())
    weights = data.weights
    for _ in range(2):
        errors = _errors(data, models)
        away = data.logs - models.reshape(-1, data.rounds.size)[int(errors.argmin())]
        away -= np.median(away)
        spread = max(1.4826 * float(np.median(np.abs(away))), SUREST)
        data = data._replace(weights=weights * np.minimum(1.0, HUBER * spread / np.maximum(np.abs(away), 1e-12)))
    return data


@lru_cache(maxsize=64)
def _coarse_models(rounds: bytes) -> Floats:
    """Logarithms of δ under every factor and pace of the grid, at these rounds."""
    return _model(_shrinking(_FACTORS, np.frombuffer(rounds)), np.tile(_PACES, (_FACTORS.size, 1)))


def _remainder(data: _Rounds, factor: float, pace: float) -> tuple[float, float]:
    """The pace as a displacement, and the round at which the shrinking part has come down to half of it."""
    model = _model(_shrinking(np.array([factor]), data.rounds), np.array([[pace]]))[0, 0]
    stays = float(np.exp(pace + (data.logs - model) @ data.weights / data.weights.sum()))
    if factor >= 0:
        return stays, np.inf
    return stays, float(data.rounds[0] + max(0.0, (pace - np.log(2)) / factor))


def _aicc(error: float, rounds: int, parameters: int, sure: float) -> float:
    """AICc, smaller is better; infinite where there are too few rounds for the parameters."""
    room = rounds - parameters - 1
    if room <= 0:
        return np.inf
    mean = max(error / rounds, sure / 2)
    return float(rounds * np.log(mean) + 2 * parameters + 2 * parameters * (parameters + 1) / room)
