"""Tests of paired differences: label swaps over source images, and Holm's correction.

Under the null hypothesis two editors are exchangeable on each source image, so swapping their results on any set of
images is as likely as the observation. For a mean this is the sign-flip test; the combined score is not a mean, so
whole sums are swapped and the score is recomputed. All 2^K swaps are enumerated when K is small; then p is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from convergebench.analysis.trajectories import Floats


class PermutationTest(NamedTuple):
    """Two-sided p, and whether it is exact."""

    p: float
    exact: bool


def swap_test(
    one: Floats,
    other: Floats,
    score: Callable[[Floats], Floats],
    *,
    permutations: int = 9999,
    exact_up_to: int = 14,
    seed: int = 0,
) -> PermutationTest:
    """Test score(one) = score(other); both are sources × features, scored on totals (… × features)."""
    sources = one.shape[0]
    exact = sources <= exact_up_to
    swaps = all_swaps(sources) if exact else some_swaps(sources, permutations, seed)
    difference = other - one
    found = score(one.sum(axis=0)) - score(other.sum(axis=0))
    moved = swaps @ difference
    swapped = score(one.sum(axis=0) + moved) - score(other.sum(axis=0) - moved)
    # equal up to rounding counts as at least as extreme, as swapping nothing must
    extreme = np.abs(swapped) >= np.abs(found) - 1e-9 * max(1.0, abs(float(found)))
    if exact:
        return PermutationTest(float(extreme.mean()), True)
    return PermutationTest(float((1 + extreme.sum()) / (1 + extreme.size)), False)


def holm(values: list[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given."""
    order = sorted(range(len(values)), key=values.__getitem__)
    adjusted = [0.0] * len(values)
    reached = 0.0
    for step, place in enumerate(order):
        reached = max(reached, min(1.0, (len(values) - step) * values[place]))
        adjusted[place] = reached
    return adjusted


@lru_cache(maxsize=16)
def all_swaps(sources: int) -> Floats:
    """Every set of sources once, as rows of 0 and 1; the empty set is first."""
    numbers = np.arange(2**sources)[:, None]
    return np.asarray((numbers >> np.arange(sources)) & 1, dtype=np.float64)


@lru_cache(maxsize=16)
def some_swaps(sources: int, permutations: int, seed: int) -> Floats:
    """Random sets of sources, as rows of 0 and 1."""
    generator = np.random.default_rng([seed, sources])
    return generator.integers(0, 2, size=(permutations, sources)).astype(np.float64)
