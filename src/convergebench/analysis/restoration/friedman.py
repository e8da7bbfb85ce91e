"""Friedman's test: do repeats differ in the same way on many pictures?"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

from scipy.special import chdtrc
from scipy.stats import rankdata

from convergebench.analysis.trajectories import Floats

FEW = 10
"""Blocks below which χ² is no good guide: with two repeats on five pictures it says 0.025 where the truth is 0.0625."""
MOST_TREATMENTS = 3
"""Treatments up to which all orders are counted instead."""


class FriedmanTest(NamedTuple):
    """The statistic, corrected for ties, and its p; both None where all values of every block are equal."""

    statistic: float | None
    p: float | None
    blocks: int
    exact: bool = False
    """Whether p counts all orders of the values within their blocks; else it is by χ²."""


def friedman(values: Floats) -> FriedmanTest:
    """The test over blocks × treatments without missing values.

    p is by χ² with treatments − 1 degrees of freedom, as everywhere; exact with few blocks of two or three treatments.
    """
    blocks, treatments = values.shape
    if blocks == 0 or treatments < 2:
        return FriedmanTest(None, None, blocks)
    ranks = rankdata(values, axis=1)
    away = ((ranks.sum(axis=0) - blocks * (treatments + 1) / 2) ** 2).sum()
    # the spread of the ranks that are there: smaller with ties
    spread = ((ranks - (treatments + 1) / 2) ** 2).sum() / (treatments - 1)
    if spread <= 0:
        return FriedmanTest(None, None, blocks)
    statistic = float(away / spread)
    if blocks < FEW and treatments <= MOST_TREATMENTS:
        return FriedmanTest(statistic, _exact_p(ranks), blocks, exact=True)
    return FriedmanTest(statistic, float(chdtrc(treatments - 1, statistic)), blocks)


def _exact_p(ranks: Floats) -> float:
    """The share of all orders within blocks whose rank sums lie as far apart."""
    halves = (2 * ranks).round().astype(int).tolist()  # tied ranks are halves
    sums: dict[tuple[int, ...], float] = {(0,) * len(halves[0]): 1.0}
    for block in halves:
        orders = list(permutations(block))
        reached: dict[tuple[int, ...], float] = {}
        for so_far, weight in sums.items():
            for order in orders:
                total = tuple(one + more for one, more in zip(so_far, order, strict=True))
                reached[total] = reached.get(total, 0.0) + weight / len(orders)
        sums = reached
    found = sum(total**2 for total in map(sum, zip(*halves, strict=True)))
    return min(1.0, sum(weight for totals, weight in sums.items() if sum(one**2 for one in totals) >= found))
