"""Area under the retention curve: one number per case, 1 for an editor that changes nothing.

AUC = (1/N) ∫ r(n) dn by trapezoids from n = 0. A case that ended early contributes up to its last value, over its own
length, and is counted in `n_short`; that flatters an editor whose chains break before the damage shows, so the ranking
compares over equal rounds and counts refusals. A lost picture has retention 0. A round without a measurement is
interpolated linearly between its neighbours and counted in `n_missing`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import Bootstrap, by_source
from convergebench.analysis.retention import has_retention, retained
from convergebench.analysis.schemas import table
from convergebench.analysis.trajectories import Floats, Ints, Mask, Trajectories


def area(retained: Floats) -> Floats:
    """AUC per row of a cases × rounds matrix that starts at round 0; NaN where no later round has a value."""
    rounds = retained.shape[1] - 1
    last = last_value(retained)
    found = np.full(retained.shape[0], np.nan)
    if rounds == 0:
        return found
    bridged = _bridge(retained)
    strips = (bridged[:, 1:] + bridged[:, :-1]) / 2
    inside = np.arange(1, rounds + 1)[None, :] <= last[:, None]
    sums = np.where(inside, strips, 0.0).sum(axis=1)
    return np.asarray(np.divide(sums, last, out=found, where=last > 0))


def area_until(retained: Floats, end: Ints) -> Floats:
    """AUC per row up to that row's `end`, so that chains of different length can be compared."""
    within = np.arange(retained.shape[1])[None, :] <= end[:, None]
    return area(np.where(within, retained, np.nan))


def areas(data: Trajectories) -> dict[str, Floats]:
    """AUC of every chain for every metric that has a retention."""
    return {metric: area(retained(data, metric)) for metric in data.measured if has_retention(data.facts.get(metric))}


def last_value(values: Floats) -> Ints:
    """The last round with a value, per row; 0 when there is none after round 0."""
    there = ~np.isnan(values)
    there[:, 0] = True
    return np.asarray(values.shape[1] - 1 - there[:, ::-1].argmax(axis=1))


def missing(data: Trajectories, metric: str) -> Mask:
    """Rounds that were done but not measured, or with nothing to measure; lost pictures are not among them."""
    gone = data.observed & np.isnan(data.values[metric]) & ~data.lost[metric]
    gone[:, 0] = False
    return np.asarray(gone)


def auc_table(data: Trajectories, found: dict[str, Floats], bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `auc`: mean over cases for every editor, metric and group."""
    return table("auc", list(_rows(data, found, bootstrap)))


def _rows(data: Trajectories, found: dict[str, Floats], bootstrap: Bootstrap) -> Iterator[dict[str, object]]:
    planned = np.maximum(data.chains["planned"].fill_null(0).to_numpy(), data.reached)
    names = list(found)
    ends = {name: last_value(np.where(data.lost[name], 0.0, data.values[name])) for name in names}
    gaps = {name: missing(data, name) for name in names}
    for editor, group, rows in data.cells() if names else ():
        values = np.column_stack([found[name][rows] for name in names])
        sums, counts = by_source(values, data.source[rows])
        band = bootstrap.ratio(sums, counts, bounds=(-np.inf, 1.0))
        there = ~np.isnan(values)
        for column, name in enumerate(names):
            yield {
                **{"editor": editor, "metric": name, "group": group, "auc": band.estimate[column]},
                **{"low": band.low[column], "high": band.high[column]},
                **{"n_cases": int(there[:, column].sum()), "n_sources": int((counts[:, column] > 0).sum())},
                **{"n_missing": int(gaps[name][rows].sum()), "n_lost": int(data.lost[name][rows].sum())},
                "n_short": int(((ends[name] < planned)[rows] & there[:, column]).sum()),
            }


def _bridge(values: Floats) -> Floats:
    """Fill gaps before a row's last value by linear interpolation."""
    filled = values.copy()
    rounds = np.arange(values.shape[1])
    inside = rounds[None, :] <= last_value(values)[:, None]
    for row in np.flatnonzero((np.isnan(values) & inside).any(axis=1)):
        there = ~np.isnan(values[row])
        filled[row] = np.interp(rounds, rounds[there], values[row, there])
    return filled
