"""An interval for a ratio of two estimates, by leaving each source image out once.

Resampling images does not work: a handful of them spreads too little in nearly every draw, and percentiles of the draws
covered the true ratio of damage over content in 51 to 89 % of simulated audits instead of 95 %. Student's t around the
jackknife covers in 93 to 98 %, but in 88 % where scores of untouched images are very skewed. Stretched on the side of
the long tail, on a scale that is logarithmic for large ratios, it always covers and is far too wide. The mean of the
two covers in 91 to 99 % from 8 images on (`python -m benchmarks.coverage`).
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from convergebench.analysis.bootstrap import Bootstrap, Interval, Statistic
from convergebench.analysis.trajectories import Floats


def jackknife(features: Floats, function: Statistic, confidence: float) -> Interval:
    """A ratio of feature totals with its interval; features are sources × features, the last one counts cases."""
    stretched = Bootstrap(confidence=confidence).statistic(features, lambda totals: np.arcsinh(function(totals)))
    totals, sources = features.sum(axis=0), features.shape[0]
    estimate = np.atleast_1d(function(totals))
    if np.isnan(stretched.low).any():  # too few sources
        return Interval(estimate, stretched.low, stretched.high)
    left_out = np.atleast_1d(function(totals - features))
    variance = (sources - 1) / sources * ((left_out - left_out.mean()) ** 2).sum()
    half = float(stdtrit(sources - 1, 0.5 + confidence / 2)) * np.sqrt(variance)
    return Interval(
        estimate, (estimate - half + np.sinh(stretched.low)) / 2, (estimate + half + np.sinh(stretched.high)) / 2
    )


def absolute(band: Interval) -> Interval:
    """The interval of the absolute value: from 0 where the sign is uncertain."""
    both = np.abs(np.array([band.low, band.high]))
    low = np.where((band.low <= 0) & (band.high >= 0), 0.0, both.min(axis=0))
    return Interval(np.abs(band.estimate), np.where(np.isnan(band.low), np.nan, low), both.max(axis=0))
