"""The interval of the share that passes a filter, whose threshold is an estimate too.

Whole source images are resampled, their untouched picture and their damaged ones together. Each draw sets its own
threshold and counts what passes it. Percentiles of the draws, widened as Student's t is for few images, are joined with
Wilson's interval for the effective number of images (by the spread of the draws, at most the real number): where
everything passes in every draw, the draws alone would have no width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import t as student

from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.analysis.failures import wilson
from convergebench.analysis.trajectories import Floats, Ints


class ThresholdDraws(NamedTuple):
    """How often each source is drawn (draws × sources), and the threshold of each draw."""

    weights: Floats
    thresholds: Floats


def draw_thresholds(
    clean: Floats, sources: Ints, *, percentile: float, of: int, draws: int, seed: int
) -> ThresholdDraws:
    """Resample `of` sources and set the filter in each draw; `sources` are those of the untouched scores `clean`."""
    generator = np.random.default_rng([seed, of])
    weights = generator.multinomial(of, np.full(of, 1 / of), size=draws).astype(np.float64)
    order = np.argsort(clean, kind="stable")
    ordered, counts = clean[order], weights[:, sources[order]].cumsum(axis=1)
    place = np.maximum(counts[:, -1] - 1, 0) * percentile / 100
    below = np.floor(place)
    ends = [ordered[_nth(counts, rank)] for rank in (below, np.minimum(below + 1, np.maximum(counts[:, -1] - 1, 0)))]
    thresholds = ends[0] + (ends[1] - ends[0]) * (place - below)
    return ThresholdDraws(weights, np.where(counts[:, -1] > 0, thresholds, np.nan))


def pass_interval(
    scores: Floats, sources: Ints, share: float, drawn: ThresholdDraws, confidence: float
) -> tuple[float | None, float | None]:
    """Ends of the interval of the share of `scores` that pass; None where there are too few sources."""
    present = np.unique(sources)
    images = present.size
    if images < FEWEST_SOURCES:
        return None, None
    belongs = sources[:, None] == present[None, :]
    known = np.isfinite(drawn.thresholds)
    levels, which = np.unique(drawn.thresholds[known], return_inverse=True)
    hits = (scores[None, :] >= levels[:, None]).astype(np.float64) @ belongs
    weights = drawn.weights[known][:, present]
    totals = weights @ belongs.sum(axis=0)
    shares = ((weights * hits[which]).sum(axis=1)[totals > 0]) / totals[totals > 0]
    tail = float(ndtr(-student.ppf(0.5 + confidence / 2, images - 1) * np.sqrt(images / (images - 1))))
    low, high = (float(end) for end in np.quantile(shares, [tail, 1 - tail]))
    spread = float(shares.var()) * images / (images - 1)
    effective = share * (1 - share) / spread if 0 < share < 1 and spread > 0 else images
    effective = min(float(images), max(1.0, effective))
    ends = wilson(share * effective, effective, confidence)
    return min(low, ends[0] or 0.0), max(high, ends[1] or 0.0)


def _nth(counts: Floats, rank: Floats) -> Ints:
    """Per draw, the position whose running count first exceeds the rank."""
    return np.asarray((counts > rank[:, None]).argmax(axis=1), dtype=np.int64)
