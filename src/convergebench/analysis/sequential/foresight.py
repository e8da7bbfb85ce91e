"""A guess of the half-life from the first rounds, for plans only; no estimate, interval or decision uses it.

Retention is taken to fall by the same share each round (r = kⁿ, least squares on the logarithm through the untouched
image). Real chains slow down or break, so the guess is often wrong by a factor of two.
"""

from __future__ import annotations

import math

import numpy as np

from convergebench.analysis.trajectories import Floats

FEWEST_ROUNDS = 2


def foreseen_round(retention: Floats, level: float) -> float | None:
    """The round at which mean retention would pass the level; `retention` begins with the untouched image (1).

    None with too few rounds, or where nothing is being lost.
    """
    known = np.asarray(retention, dtype=np.float64)
    known = known[: int(np.argmin(np.isfinite(known))) if not np.isfinite(known).all() else known.size]
    if known.size <= FEWEST_ROUNDS or not 0 < level < 1:
        return None
    rounds = np.arange(known.size)
    rate = float((rounds * np.log(np.maximum(known, 1e-6))).sum() / (rounds**2).sum())
    return math.log(level) / rate if rate < -1e-9 else None
