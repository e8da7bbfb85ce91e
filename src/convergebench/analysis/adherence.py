"""Did the edit happen, was it undone? Recorded beside the loss, never used to filter it.

Each case counts once: its mean over rounds, and the share of its rounds above one half. `n_missing` counts readings
(rounds) without a value, e.g. nothing to undo.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import Bootstrap, by_source
from convergebench.analysis.schemas import table
from convergebench.analysis.trajectories import Floats, Trajectories


def adherence_table(data: Trajectories, bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `adherence`: every editor, group and adherence metric."""
    return table("adherence", list(_rows(data, bootstrap)))


def _rows(data: Trajectories, bootstrap: Bootstrap) -> Iterator[dict[str, object]]:
    metrics = [name for name in data.values if data.kind(name) == "adherence"]
    for group in data.groups:
        for editor in data.editors:
            rows = group.members & data.of(editor)
            for metric in metrics if rows.any() else ():
                values = data.values[metric][rows, 1:]
                there = ~np.isnan(values)
                columns = np.column_stack([_mean(values), _mean(np.where(there, values > 0.5, np.nan))])
                sums, counts = by_source(columns, data.source[rows])
                band = bootstrap.ratio(sums, counts)
                yield {
                    **{"editor": editor, "group": group.name, "metric": metric, "mean": band.estimate[0]},
                    **{"low": band.low[0], "high": band.high[0], "share": band.estimate[1]},
                    **{"n_cases": int(there.any(axis=1).sum()), "n_sources": int((counts[:, 0] > 0).sum())},
                    "n_missing": int((data.observed[rows, 1:] & ~there).sum()),
                    "n_readings": int(there.sum()),
                }


def _mean(values: Floats) -> Floats:
    """Mean per row of what is there; NaN for an empty row."""
    there = ~np.isnan(values)
    count = there.sum(axis=1)
    sums = np.where(there, values, 0.0).sum(axis=1)
    return np.asarray(np.divide(sums, count, out=np.full(count.size, np.nan), where=count > 0))
