"""Which pictures are compared in learning, and how much each comparison counts."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from numpy.typing import NDArray

from training.decay.model import Pairs
from training.decay.tables import Table

GAPS = (
    *((1, 2), (1, 3), (1, 5), (1, 10), (1, 20)),
    *((2, 3), (2, 5), (3, 5), (5, 10), (5, 20), (10, 20)),
    *((0, 1), (0, 5), (0, 20)),
)
"""Steps of one chain that are compared; the later should score worse."""


def chains_of(table: Table, rows: NDArray[np.bool_]) -> list[dict[int, int]]:
    """Step → row, for every chain."""
    chains: dict[str, dict[int, int]] = defaultdict(dict)
    for place in np.flatnonzero(rows):
        chains[str(table.chain[place])][int(table.step[place])] = int(place)
    return list(chains.values())


def pairs_of(table: Table, rows: NDArray[np.bool_]) -> Pairs:
    """All pairs within chains; every family counts the same in all."""
    better, worse, family = [], [], []
    for steps in chains_of(table, rows):
        for before, after in GAPS:
            if before in steps and after in steps:
                better.append(steps[before])
                worse.append(steps[after])
                family.append(str(table.family[steps[before]]))
    count = Counter(family)
    return Pairs(np.array(better), np.array(worse), np.array([1 / count[name] for name in family]))
