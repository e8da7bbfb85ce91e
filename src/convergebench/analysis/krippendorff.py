"""Krippendorff's α: how far raters agree beyond chance, for interval and for ordinal values; gaps are allowed."""

from __future__ import annotations

import numpy as np

from convergebench.analysis.trajectories import Floats


def krippendorff_alpha(ratings: Floats) -> float | None:
    """Krippendorff's α for interval data: raters × units, NaN where a rater gave no value.

    Units with fewer than two values do not count; None where no value differs from another.
    """
    known = ~np.isnan(ratings)
    units = known.sum(axis=0) > 1
    values, there = ratings[:, units], known[:, units]
    total = int(there.sum())
    if total < 2:
        return None
    filled = np.where(there, values, 0.0)
    counts, sums, squares = there.sum(axis=0), filled.sum(axis=0), (filled**2).sum(axis=0)
    # the sum of squared differences over ordered pairs of m values is 2 (m Σx² − (Σx)²)
    observed = float((2 * (counts * squares - sums**2) / (counts - 1)).sum()) / total
    expected = 2 * (total * float(squares.sum()) - float(sums.sum()) ** 2) / (total * (total - 1))
    return 1 - observed / expected if expected > 1e-15 else None


def ordinal_alpha(ratings: Floats) -> float | None:
    """The same for ordinal data: two values are as far apart as the number of values given between them."""
    known = ~np.isnan(ratings)
    units = known.sum(axis=0) > 1
    levels = np.unique(ratings[:, units][known[:, units]])
    counts = (
        np.stack([(ratings[:, units] == level).sum(axis=0) for level in levels]) if levels.size else np.zeros((0, 0))
    )
    if levels.size < 2:
        return None
    together = (counts / (counts.sum(axis=0) - 1)) @ counts.T
    together[np.diag_indices(levels.size)] -= (counts / (counts.sum(axis=0) - 1)).sum(axis=1)
    times = counts.sum(axis=1).astype(np.float64)
    middle = np.cumsum(times) - times / 2
    apart = (middle[:, None] - middle[None, :]) ** 2
    total = float(times.sum())
    expected = float((np.outer(times, times) * apart).sum()) / (total - 1)
    return 1 - float((together * apart).sum()) / expected
