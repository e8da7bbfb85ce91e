"""Failures as the audit counts them: does a score find steps 5, 10 and 20 of a chain worse than step 1?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from convergebench.analysis.failures import wilson

EARLY, LATER = 1, (5, 10, 20)
Table = Mapping[str, Any]


class Failures(NamedTuple):
    """Chains and photographs of one family."""

    chains: int
    failed: int
    photographs: int
    failing: int
    """Photographs with any chain that fails."""

    @property
    def share(self) -> float:
        """Of photographs that fail."""
        return self.failing / self.photographs if self.photographs else 0.0

    def __str__(self) -> str:
        """Failing photographs of all, and Wilson's 95 % interval of their share."""
        low, high = wilson(self.failing, self.photographs)
        return f"{self.failing}/{self.photographs} ({100 * (low or 0):.0f}–{100 * (high or 0):.0f} %)"


def rows_of_chains(table: Table, families: Sequence[str] | None = None) -> dict[str, dict[int, int]]:
    """Chain → step → row."""
    chains: dict[str, dict[int, int]] = defaultdict(dict)
    for row, (chain, step, family) in enumerate(zip(table["chain"], table["step"], table["family"], strict=True)):
        if families is None or family in families:
            chains[str(chain)][int(step)] = row
    return chains


def stands_still(table: Table, steps: Mapping[int, int]) -> bool:
    """Whether the pictures of a chain stop changing after the first: there is nothing to notice."""
    hidden = table["network-hidden"]
    return all(np.array_equal(hidden[steps[EARLY]], hidden[steps[later]]) for later in LATER)


def failures(table: Table, score: NDArray[np.floating], families: Sequence[str]) -> Failures:
    """Higher scores are worse; a tie and a missing value are failures; chains that stand still are left out."""
    found: dict[str, list[bool]] = defaultdict(list)
    for steps in rows_of_chains(table, families).values():
        if not stands_still(table, steps):
            photograph = str(table["photograph"][steps[EARLY]])
            found[photograph].append(any(not score[steps[later]] > score[steps[EARLY]] for later in LATER))
    every = [one for many in found.values() for one in many]
    return Failures(len(every), sum(every), len(found), sum(any(many) for many in found.values()))


def standing_still(table: Table, families: Sequence[str]) -> int:
    """Chains of these families whose pictures stop changing."""
    return sum(stands_still(table, steps) for steps in rows_of_chains(table, families).values())
