"""Fitting the weighted sum to the order of pictures within chains.

Each pair of an earlier and a later picture of a chain is a step in the space of features. Steps are brought to equal
length, so that strong damage does not decide for weak, and the sum should rise by one along each: least squares on
those that do not, with families in balance. Logistic losses on the steps as they are, and convex networks on top, were
tried first: they order what they have seen better, and what they have not seen worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convergebench.metrics.no_reference._decay_model import DecayModel, soft_limited

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Settings:
    """How the fit is held."""

    ridge: float = 0.03
    rounds: int = 6
    """How often the pairs that are already in order are set aside and the rest is fitted anew."""
    least: float = 1e-3
    """Pairs closer than this show the same picture and are left out."""


class Pairs(NamedTuple):
    """Rows that are better, rows that are worse, and what each pair counts."""

    better: NDArray[np.intp]
    worse: NDArray[np.intp]
    weight: Numbers


def fit(
    features: Numbers, names: tuple[str, ...], pairs: Pairs, clean: NDArray[np.intp], settings: Settings
) -> DecayModel:
    """The weighted sum that rises along the pairs; `clean` are the rows of untouched pictures."""
    used = np.unique(np.concatenate([pairs.better, pairs.worse]))
    centre = np.median(features[clean], axis=0)
    # both spreads count, so that damage far out does not squeeze everything else
    spread = np.sqrt((features[clean].std(axis=0) ** 2 + features[used].std(axis=0) ** 2) / 2) + 1e-6
    values = soft_limited((features - centre) / spread)
    values = np.hstack([values, np.abs(values)])
    steps = values[pairs.worse] - values[pairs.better]
    length = np.linalg.norm(steps, axis=1)
    moved = length > settings.least
    steps, weight = steps[moved] / length[moved, None], pairs.weight[moved] / pairs.weight[moved].sum()
    count = steps.shape[1]
    behind = np.ones(len(steps), bool)
    found = np.zeros(count)
    for _ in range(settings.rounds):
        counted = (weight * behind)[:, None] * steps
        found = np.linalg.solve(counted.T @ steps + settings.ridge / count * np.eye(count), counted.sum(axis=0))
        behind = steps @ found < 1
    return DecayModel(names, centre, spread, found[: len(names)], found[len(names) :])
