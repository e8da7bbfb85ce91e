"""Mean curve of every metric over rounds, from the untouched image on.

Every cell uses the cases still observed at that round that have a value, and counts them. A lost picture counts with
the metric's worst value, where it has one (`n_lost`). Round 0 is exact (the self-value), or the mean score of the
sources where a metric needs no reference; otherwise its mean is None.

Metrics in dB are averaged as squared errors: the curve is the PSNR of the mean squared error. An unchanged image has an
infinite PSNR, and one such case would make the plain mean infinite; the PSNR of the mean error is infinite only where
all cases are unchanged, and never above the plain mean. The column `averaging` says which was used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import Bootstrap, Interval, by_source
from convergebench.analysis.retention import with_lost
from convergebench.analysis.schemas import stacked
from convergebench.analysis.trajectories import Floats, Ints, Mask, Trajectories


def curves(data: Trajectories, bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `curves`: every editor, metric, group and round."""
    return stacked("curves", list(_parts(data, bootstrap)))


def _parts(data: Trajectories, bootstrap: Bootstrap) -> Iterator[dict[str, object]]:
    names = data.measured
    for editor, group, rows in data.cells() if names else ():
        width = int(data.reached[rows].max()) + 1
        sources, observed = data.source[rows], data.observed[rows, :width]
        values = {name: with_lost(data, name)[rows, :width] for name in names}
        decibels = {name: name in data.facts and data.facts[name].unit == "dB" for name in names}
        ranges = [_possible(data, name) for name in names]
        for metric, band in zip(names, _bands(values, sources, bootstrap, ranges, decibels=decibels), strict=True):
            alone = metric in data.facts and data.facts[metric].kind == "no-reference"
            lost = data.lost[metric][rows, :width]
            counts = _counts(values[metric], sources, observed & ~lost, alone=alone)
            yield {
                **{"editor": editor, "metric": metric, "group": group, "round": np.arange(width)},
                **{"mean": band.estimate, "low": band.low, "high": band.high},
                **dict(zip(("n_cases", "n_sources", "n_missing"), counts, strict=True)),
                "n_lost": lost.sum(axis=0),
                "averaging": "mean squared error" if decibels[metric] else "arithmetic",
            }


def _bands(
    values: Mapping[str, Floats],
    sources: Ints,
    bootstrap: Bootstrap,
    ranges: Sequence[tuple[float, float]],
    *,
    decibels: Mapping[str, bool],
) -> Iterator[Interval]:
    """Mean and interval per round for each metric; all metrics share one resampling, the slow part."""
    powers = [10 ** (-matrix / 10) if decibels[name] else matrix for name, matrix in values.items()]
    low, high = (np.repeat(ends, powers[0].shape[1]) for ends in zip(*ranges, strict=True))
    whole = bootstrap.ratio(*by_source(np.hstack(powers), sources), bounds=(low, high))
    parts = [np.split(end, len(values)) for end in whole]
    for (name, matrix), *ends in zip(values.items(), *parts, strict=True):
        band = _in_decibels(Interval(*ends)) if decibels[name] else Interval(*ends)
        if (matrix[:, 0] == matrix[0, 0]).all() or np.isnan(matrix[:, 0]).all():
            for end in band:
                end[0] = matrix[0, 0]  # every untouched image has the same value, and no uncertainty
        yield band


def _possible(data: Trajectories, metric: str) -> tuple[float, float]:
    """The range of a mean; for decibels, that of the squared error."""
    facts = data.facts.get(metric)
    if facts is not None and facts.unit == "dB":
        return 0.0, inf
    return (-inf, inf) if facts is None else facts.range


def _in_decibels(power: Interval) -> Interval:
    """The interval of squared errors in decibels, where low and high change places."""
    with np.errstate(divide="ignore"):
        estimate, low, high = (
            -10 * np.log10(end) + 0.0 for end in (power.estimate, power.high, np.maximum(power.low, 0))
        )
    return Interval(estimate, low, high)


def _counts(values: Floats, sources: Ints, observed: Mask, *, alone: bool) -> tuple[Ints, Ints, Ints]:
    """Cases with a value, their sources, and cases observed without a value, per round.

    At round 0 every case has a value of a metric that compares with the source; a no-reference metric (`alone`) must
    have scored the source.
    """
    there = ~np.isnan(values)
    if not alone:
        there[:, 0] = True
    _, counts = by_source(np.where(there, 1.0, np.nan), sources)
    missing = (observed & ~there).sum(axis=0)
    return there.sum(axis=0), (counts > 0).sum(axis=0), missing
