"""How far two raters agree on the same pictures: four measures, with intervals over source images.

Spearman's ρ and Kendall's τ-b compare orders, so the scales may differ. Quadratic-weighted κ and Krippendorff's α
compare values, so both must be on one scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl
from scipy.special import stdtrit

from convergebench.analysis.bootstrap import FEWEST_SOURCES, Bootstrap
from convergebench.analysis.factory.shares import Estimate
from convergebench.analysis.krippendorff import krippendorff_alpha as krippendorff_alpha
from convergebench.analysis.trajectories import Floats

LEVELS = 11
"""Levels of a score from 0 to 1 for κ, which counts agreement on levels: tenths."""
FEWEST_RATED = 10
"""With fewer pictures that both rated there is no measure."""

Measure = Callable[[Floats, Floats], float | None]


def spearman(one: Floats, other: Floats) -> float | None:
    """Correlation of ranks; None where one side never changes."""
    return _pearson(_ranks(one), _ranks(other))


def kendall(one: Floats, other: Floats) -> float | None:
    """τ-b: concordant minus discordant pairs, corrected for ties on either side; None where one side never changes."""
    from scipy.stats import kendalltau  # slow to load, and few runs have ratings

    if one.size < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return float(kendalltau(one, other).statistic)


def quadratic_kappa(one: Floats, other: Floats, levels: int = LEVELS) -> float | None:
    """Cohen's κ with squared distances between levels, for scores between 0 and 1; None where chance explains all."""
    first, second = (np.rint(np.clip(values, 0, 1) * (levels - 1)) for values in (one, other))
    # the mean squared distance of every value of the one from every value of the other
    expected = float((first**2).mean() + (second**2).mean() - 2 * first.mean() * second.mean())
    return 1 - float(((first - second) ** 2).mean()) / expected if expected > 1e-12 else None


def alpha_of_two(one: Floats, other: Floats) -> float | None:
    """Krippendorff's α for interval data of two raters who rated everything."""
    return krippendorff_alpha(np.stack([one, other]))


BY_ORDER: Mapping[str, Measure] = {"spearman": spearman, "kendall": kendall}
BY_VALUE: Mapping[str, Measure] = {"quadratic kappa": quadratic_kappa, "krippendorff alpha": alpha_of_two}


def measures_of(one: Floats, other: Floats) -> dict[str, Measure]:
    """The measures that suit these values: those by value only where both lie between 0 and 1."""
    same = all(values.size and values.min() >= 0 and values.max() <= 1 for values in (one, other))
    return {**BY_ORDER, **(BY_VALUE if same else {})}


def clustered(one: Floats, other: Floats, sources: Sequence[str], measure: Measure, bootstrap: Bootstrap) -> Estimate:
    """The measure with an interval over source images, all pictures of an image together.

    By default each source is left out once and Student's t gives the width; `percentile` and `bca` draw sources with
    replacement and take percentiles. Fewer than five sources have no interval.
    """
    names, place = np.unique(np.asarray(sources, dtype=str), return_inverse=True)
    estimate = measure(one, other)
    if estimate is None or names.size < FEWEST_SOURCES:
        return Estimate(estimate, None, None, int(names.size))
    if bootstrap.kind == "corrected-t":
        left = [measure(one[place != gone], other[place != gone]) for gone in range(names.size)]
        known = np.array([value for value in left if value is not None])
        error = float(np.sqrt((known.size - 1) / max(known.size, 1) * ((known - known.mean()) ** 2).sum()))
        reach = float(stdtrit(max(known.size - 1, 1), 0.5 + bootstrap.confidence / 2)) * error
        ends = (estimate - reach, estimate + reach)
    else:
        ends = _percentiles(one, other, place, measure, bootstrap)
    return Estimate(estimate, max(-1.0, ends[0]), min(1.0, ends[1]), int(names.size))


def _percentiles(
    one: Floats, other: Floats, place: np.ndarray[tuple[int, ...], np.dtype[np.int64]], measure: Measure, how: Bootstrap
) -> tuple[float, float]:
    members = [np.flatnonzero(place == number) for number in range(int(place.max()) + 1)]
    generator = np.random.default_rng([how.seed, len(members)])
    drawn = []
    for _ in range(how.draws):
        rows = np.concatenate([members[number] for number in generator.integers(0, len(members), len(members))])
        value = measure(one[rows], other[rows])
        drawn += [] if value is None else [value]
    tail = 100 * (1 - how.confidence) / 2
    low, high = np.percentile(drawn, [tail, 100 - tail])
    return float(low), float(high)


def _ranks(values: Floats) -> Floats:
    return pl.Series(values, dtype=pl.Float64).rank("average").to_numpy()


def _pearson(one: Floats, other: Floats) -> float | None:
    if one.size < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    a, b = one - one.mean(), other - other.mean()
    return float(np.clip((a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum()), -1, 1))
