"""Kaplan–Meier over rounds: how many cases are still above a level, when some were not followed to the end.

The interval is the log–log one on the variance of log S. That variance is the infinitesimal jackknife summed within
source images: with one case per source it *is* Greenwood's formula, with several it widens as correlated cases demand
(scaled by K/(K−1) for K sources). Where S is 0 or 1 the log–log formula has no value, and neither has the interval;
with fewer than five sources there is none at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.analysis.trajectories import Floats, Ints, Mask


class Survival(NamedTuple):
    """One value per round 0 … N. `low` and `high` are NaN where there is no interval."""

    survival: Floats
    low: Floats
    high: Floats
    at_risk: Ints
    events: Ints
    censored: Ints
    interval: bool
    """Whether there are enough sources for intervals."""


class Median(NamedTuple):
    """First round at which half are lost, with its interval; None where not reached (or no interval)."""

    value: int | None
    low: int | None
    high: int | None


def kaplan_meier(times: Ints, events: Mask, *, clusters: Ints | None = None, confidence: float = 0.95) -> Survival:
    """The curve of cases with an event (`events`) or last seen without one at whole rounds `times`."""
    end = int(times.max(initial=0))
    rounds = np.arange(end + 1)
    died = (times[:, None] == rounds) & events[:, None]
    risk = times[:, None] >= rounds
    died_sum, risk_sum = died.sum(axis=0), risk.sum(axis=0)
    hazard = np.divide(died_sum, risk_sum, out=np.zeros(end + 1), where=risk_sum > 0)
    survival = np.cumprod(1 - hazard)
    groups = np.arange(times.size) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    sources = int(groups.max(initial=-1)) + 1
    variance = _variance(died, risk, hazard, groups)
    enough = sources >= FEWEST_SOURCES
    # several cases per source: the variance is over sources, and with few of them a normal quantile is too small
    reach = stdtrit(sources - 1, 0.5 + confidence / 2) if 1 < sources < times.size else ndtri(0.5 + confidence / 2)
    low, high = _log_log(survival, variance, float(reach)) if enough else (np.full(end + 1, np.nan),) * 2
    censored = ((times[:, None] == rounds) & ~events[:, None]).sum(axis=0)
    low, high = low.copy(), high.copy()
    low[0], high[0] = (1.0, 1.0) if not died_sum[0] else (low[0], high[0])
    return Survival(survival, low, high, risk_sum, died_sum, censored, enough)


def median(curve: Survival) -> Median:
    """Median and the rounds at which its band's ends cross one half (Brookmeyer and Crowley 1982).

    Where all cases agree on the round (S falls from 1 to 0) the interval is that round.
    """
    sure = (curve.survival == 0) | (curve.survival == 1)
    low, high = (np.where(sure, curve.survival, end) for end in (curve.low, curve.high))
    value = _first_at_half(curve.survival)
    return Median(value, *((_first_at_half(low), _first_at_half(high)) if curve.interval else (None, None)))


def restricted_mean(curve: Survival) -> tuple[float, int]:
    """Mean number of rounds up to the last round with a case at risk, and that round: the area under the steps."""
    return float(curve.survival[:-1].sum()), curve.survival.size - 1


def _first_at_half(values: Floats) -> int | None:
    at = np.flatnonzero(values <= 0.5 + 1e-12)
    return int(at[0]) if at.size else None


def _variance(died: Mask, risk: Mask, hazard: Floats, groups: Ints) -> Floats:
    """Variance of log S: squared influences, summed within sources first."""
    lasting = (risk.sum(axis=0) - died.sum(axis=0)).astype(np.float64)
    pull = np.divide(died - hazard * risk, lasting, out=np.zeros(died.shape), where=lasting > 0)
    sources = int(groups.max(initial=-1)) + 1
    influence = np.zeros((sources, died.shape[1]))
    np.add.at(influence, groups, np.cumsum(pull, axis=1))
    scale = sources / (sources - 1) if 1 < sources < groups.size else 1.0
    return np.asarray(scale * (influence**2).sum(axis=0))


def _log_log(survival: Floats, variance: Floats, errors: float) -> tuple[Floats, Floats]:
    inside = (survival > 0) & (survival < 1)
    log = np.log(survival, out=np.full(survival.size, np.nan), where=inside)
    reach = errors * np.sqrt(variance) / log
    return np.exp(log * np.exp(-reach)), np.exp(log * np.exp(reach))
