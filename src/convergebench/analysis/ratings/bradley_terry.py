"""Bradley–Terry: the odds that one method is preferred to another are the ratio of their strengths; ties are half wins.

Strengths are log odds with mean 0, by Newton's method on the likelihood. They are finite only among methods each of
which, directly or through others, both won and lost against every other (Ford 1957): `core` finds those.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from convergebench.analysis.trajectories import Floats, Ints, Mask


class BradleyTerryFit(NamedTuple):
    """Strengths, and the inverse of the information about them (both with the sum of strengths held at 0)."""

    strengths: Floats
    inverse: Floats


def fit(wins: Floats) -> BradleyTerryFit:
    """From `wins[i, j]`, how often i was preferred to j; all methods must be in one core."""
    together = wins + wins.T
    strengths = np.zeros(wins.shape[0])
    reached = _likelihood(strengths, wins)
    for _ in range(200):
        chance = expit(strengths[:, None] - strengths[None, :])
        slope = (wins - together * chance).sum(axis=1)
        step = _inverse(together, chance) @ slope
        while _likelihood(strengths + step, wins) < reached - 1e-12 * max(1.0, abs(reached)):
            step = step / 2
        strengths = strengths + step
        reached = _likelihood(strengths, wins)
        if np.abs(step).max(initial=0.0) < 1e-12:
            break
    chance = expit(strengths[:, None] - strengths[None, :])
    return BradleyTerryFit(strengths - strengths.mean(), _inverse(together, chance))


def influences(found: BradleyTerryFit, left: Ints, right: Ints, values: Floats) -> Floats:
    """What each comparison adds to each strength: methods × comparisons; their sum is 0."""
    surprise = values - expit(found.strengths[left] - found.strengths[right])
    return np.asarray((found.inverse[:, left] - found.inverse[:, right]) * surprise)


def reach(wins: Floats) -> Mask:
    """Whether method i won against j, directly or through others."""
    found = (wins > 0) | np.eye(wins.shape[0], dtype=bool)
    for through in range(wins.shape[0]):
        found |= found[:, [through]] & found[[through], :]
    return np.asarray(found)


def core(wins: Floats) -> Ints:
    """The largest set of methods whose strengths are finite; of equal ones that with most comparisons."""
    found = reach(wins)
    groups = {tuple(np.flatnonzero(row).tolist()) for row in found & found.T}
    compared = wins + wins.T
    best = max(sorted(groups), key=lambda group: (len(group), float(compared[np.ix_(group, group)].sum())))
    return np.array(best, dtype=np.int64)


def _likelihood(strengths: Floats, wins: Floats) -> float:
    return -float((wins * np.logaddexp(0.0, strengths[None, :] - strengths[:, None])).sum())


def _inverse(together: Floats, chance: Floats) -> Floats:
    weights = together * chance * (1 - chance)
    return np.asarray(np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights, hermitian=True))
