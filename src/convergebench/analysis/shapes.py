"""The shape of drift: which of four simple laws the case-mean drift follows.

The mean is over the same cases in every round: if cases dropped out on the way, the mean would fall by that alone and a
straight line would look saturated. So the fit ends before the first round in which a picture of the group is lost (it
cannot be measured because of what the editor did), and with the last round that most of the cases have; cases that
ended earlier are left out. `n_rounds` and `n_cases` count what is used.

linear a·n · root a·√n (a random walk) · saturating A(1 − e^(−kn)) · accelerating a(e^(kn) − 1). Fits are weighted by
1/variance of the mean (clustered by source); the overall scale of those variances is fitted too, since the rounds of
one chain are not independent and the variances only say which rounds are known better than others. Choice by AICc;
`undecided` when the best two are within 2, or when fewer than five rounds leave the two-parameter laws untestable;
`flat` when there is no drift to have a shape.

The rate k is kept within [0.02, 5] per round (bounded by the rounds seen): below that both curved laws equal the
linear one. Residuals under 10⁻⁴ of the curve count as a perfect fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import by_source
from convergebench.analysis.schemas import table
from convergebench.analysis.trajectories import Floats, Ints, Mask, Trajectories

Law = Callable[[Floats, Floats], Floats]

CURVED: dict[str, Law] = {
    "saturating": lambda rounds, rate: -np.expm1(-rate * rounds),
    "accelerating": lambda rounds, rate: np.expm1(rate * rounds),
}
STRAIGHT: dict[str, Callable[[Floats], Floats]] = {"linear": lambda rounds: rounds, "root": np.sqrt}
SHAPES = (*STRAIGHT, *CURVED)
UNDECIDED_WITHIN = 2.0
PERFECT = 1e-4
FEWEST_ROUNDS = 5
MOST = 0.8
"""Share of the measured cases that must have a round for it to be fitted."""


class Fit(NamedTuple):
    """One law fitted: its AICc (NaN if it cannot be tested), amplitude and rate (NaN for one-parameter laws)."""

    shape: str
    aicc: float
    amplitude: float
    rate: float

    @property
    def parameters(self) -> str:
        """As printed: `a = 0.0123` or `a = 0.2, k = 0.35`."""
        if np.isnan(self.amplitude):
            return ""
        first = f"{'A' if self.shape == 'saturating' else 'a'} = {self.amplitude:.4g}"
        return first if np.isnan(self.rate) else f"{first}, k = {self.rate:.4g}"


class ShapeChoice(NamedTuple):
    """All fits with their Akaike weights (NaN where untested), the best one's name and the verdict."""

    fits: tuple[Fit, ...]
    weights: Floats
    best: str | None
    verdict: str


def choose_shape(rounds: Floats, drift: Floats, variance: Floats | None = None) -> ShapeChoice:
    """Fit the four laws to drift at rounds ≥ 1 (no missing values) and choose."""
    none = np.full(len(SHAPES), np.nan)
    if not rounds.size or not np.any(drift > 0):
        blank = tuple(Fit(name, np.nan, np.nan, np.nan) for name in SHAPES)
        return ShapeChoice(blank, none, None, "flat" if rounds.size >= FEWEST_ROUNDS else "undecided")
    weights = _weights(drift, variance)
    fits = tuple(_fit(name, rounds, drift, weights) for name in SHAPES)
    scores = np.array([fit.aicc for fit in fits])
    if np.isnan(scores).any():
        return ShapeChoice(fits, none, None, "undecided")
    relative = np.exp(-(scores - scores.min()) / 2)
    first, second = np.sort(scores)[:2]
    best = SHAPES[int(scores.argmin())]
    return ShapeChoice(
        fits, relative / relative.sum(), best, "undecided" if second - first < UNDECIDED_WITHIN else best
    )


def shape_table(data: Trajectories, distance: str) -> pl.DataFrame:
    """The frame `shapes`: every editor and group in which the distance was measured."""
    return table("shapes", list(_rows(data, distance)) if distance in data.values else [])


def _rows(data: Trajectories, distance: str) -> Iterator[dict[str, object]]:
    for editor, group, rows in data.cells():
        values = data.values[distance][rows, 1:]
        if np.isnan(values).all():
            continue
        cases, rounds = common_part(values, data.lost[distance][rows, 1:])
        sources = data.source[rows][cases]
        numbers = (rounds + 1).astype(np.float64)
        choice = choose_shape(numbers, *_mean_and_variance(values[np.ix_(cases, rounds)], sources))
        for fit, weight in zip(choice.fits, choice.weights, strict=True):
            yield {
                **{"editor": editor, "group": group, "shape": fit.shape, "aicc": fit.aicc, "weight": weight},
                **{"parameters": fit.parameters, "best": fit.shape == choice.best, "verdict": choice.verdict},
                **{"n_rounds": rounds.size, "n_cases": cases.size, "n_sources": np.unique(sources).size},
                "n_missing": int(rows.sum()) - cases.size,
            }


def common_part(values: Floats, lost: Mask) -> tuple[Ints, Ints]:
    """Which cases and which rounds (columns) to fit: cases × rounds without a gap, and before any loss."""
    none: Ints = np.zeros(0, dtype=np.int64)
    there = ~np.isnan(values)
    measured = there.any(axis=0) & ~np.logical_or.accumulate(lost.any(axis=0))
    present = there[:, measured].any(axis=1)
    if not present.any():
        return none, none
    gapless = np.logical_and.accumulate(there[:, measured], axis=1)
    enough = gapless.sum(axis=0) >= MOST * present.sum()
    rounds = np.flatnonzero(measured)[enough]
    cases = np.flatnonzero(gapless[:, enough][:, -1]) if rounds.size else none
    return cases, rounds


def _mean_and_variance(values: Floats, sources: Ints) -> tuple[Floats, Floats]:
    """Mean over cases per round, and the variance of that mean with whole sources as the independent units."""
    sums, counts = by_source(values, sources)
    total = counts.sum(axis=0)
    blank = np.full(values.shape[1], np.nan)
    mean = np.divide(sums.sum(axis=0), total, out=blank.copy(), where=total > 0)
    units = (counts > 0).sum(axis=0)
    away = np.where(counts > 0, sums - counts * mean, 0.0)
    scale = np.divide(units, units - 1.0, out=np.zeros(units.size), where=units > 1)
    variance = np.divide(scale * (away**2).sum(axis=0), total**2, out=blank.copy(), where=total > 0)
    return mean, variance


def _weights(drift: Floats, variance: Floats | None) -> Floats:
    """1/variance with mean 1; equal weights where the variances are unknown or all zero."""
    if variance is None or not np.all(np.isfinite(variance)) or not np.any(variance > 0):
        return np.ones(drift.size)
    # a round on which all cases agree to the last digit must not outweigh all the others
    weights = 1 / np.maximum(variance, 1e-2 * np.median(variance[variance > 0]))
    return np.asarray(weights / weights.mean())


def _fit(name: str, rounds: Floats, drift: Floats, weights: Floats) -> Fit:
    count = 2 + (name in CURVED)  # amplitude, rate, and the scale of the errors
    if name in STRAIGHT:
        error, amplitude = _amplitude(STRAIGHT[name](rounds), drift, weights)
        rate = np.nan
    else:
        error, amplitude, rate = _search(CURVED[name], rounds, drift, weights)
    if rounds.size < FEWEST_ROUNDS:
        return Fit(name, np.nan, amplitude, rate)
    error = max(error, PERFECT**2 * float((weights * drift**2).sum()))
    room = rounds.size - count - 1
    aicc = rounds.size * np.log(error / rounds.size) + 2 * count + 2 * count * (count + 1) / room
    return Fit(name, float(aicc), amplitude, rate)


def _amplitude(law: Floats, drift: Floats, weights: Floats) -> tuple[float, float]:
    """Weighted squared error and the amplitude that minimises it."""
    amplitude = float((weights * law * drift).sum() / (weights * law**2).sum())
    return float((weights * (drift - amplitude * law) ** 2).sum()), amplitude


def _search(law: Law, rounds: Floats, drift: Floats, weights: Floats) -> tuple[float, float, float]:
    """Best rate by a grid on the logarithm, narrowed three times; the amplitude follows from the rate."""
    low, high = np.log(0.02), np.log(min(5.0, 300 / rounds.max()))
    best = (np.inf, np.nan, np.nan)
    for _ in range(4):
        grid = np.linspace(low, high, 61)
        laws = law(rounds[None, :], np.exp(grid)[:, None])
        amplitudes = (weights * laws * drift).sum(axis=1) / (weights * laws**2).sum(axis=1)
        errors = (weights * (drift - amplitudes[:, None] * laws) ** 2).sum(axis=1)
        at = int(errors.argmin())
        if errors[at] < best[0]:
            best = (float(errors[at]), float(amplitudes[at]), float(np.exp(grid[at])))
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, grid.size - 1)]
    return best
