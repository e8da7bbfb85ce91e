"""Did the edit happen, was it undone? Recorded beside the loss, never used to filter it.

Each case counts once: its mean over all its readings, and the share of them above one half. A round may have several
(two edits, or one metric on the way there and on the way back), so readings are told apart by leg and never put in
each other's place. `n_missing` counts readings without a value, e.g. nothing to undo.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import Bootstrap, by_source
from convergebench.analysis.schemas import table
from convergebench.analysis.trajectories import Floats, Trajectories, typed, usable_value
from convergebench.metrics.base import MetricFacts

LEGS = ("forward", "backward")


def adherence_table(data: Trajectories, measurements: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `adherence`: every editor, group, adherence metric and leg."""
    return table("adherence", list(_rows(data, _cases(typed(measurements, "measurements"), data), bootstrap)))


def _rows(
    data: Trajectories, cases: Mapping[tuple[str, str], Floats], bootstrap: Bootstrap
) -> Iterator[dict[str, object]]:
    for group in data.groups:
        for editor in data.editors:
            rows = group.members & data.of(editor)
            for (metric, leg), every in cases.items() if rows.any() else ():
                means, readings, missing = every[rows, :2], every[rows, 2], every[rows, 3]
                sums, counts = by_source(means, data.source[rows])
                band = bootstrap.ratio(sums, counts)
                yield {
                    **{"editor": editor, "group": group.name, "metric": metric, "leg": leg, "mean": band.estimate[0]},
                    **{"low": band.low[0], "high": band.high[0], "share": band.estimate[1]},
                    **{"n_cases": int((readings > 0).sum()), "n_sources": int((counts[:, 0] > 0).sum())},
                    **{"n_missing": int(missing.sum()), "n_readings": int(readings.sum())},
                }


def _cases(measurements: pl.DataFrame, data: Trajectories) -> dict[tuple[str, str], Floats]:
    """(metric, leg) → chains × (mean, share above one half, readings, readings without a value)."""
    metrics = {name: fact for name, fact in data.facts.items() if fact.kind == "adherence"}
    value = usable_value()
    counted = (
        measurements.filter(pl.col("metric").is_in(list(metrics)))
        .with_columns(
            pl.when(value.is_finite()).then(value).alias("value"),
            pl.col("role").fill_null(
                pl.col("metric").replace_strict(_only_leg(metrics), default="", return_dtype=pl.String)
            ),
        )
        .group_by("editor", "case", "metric", "role")
        .agg(
            pl.col("value").mean().alias("mean"),
            (pl.col("value") > 0.5).mean().alias("share"),
            pl.col("value").count().alias("readings"),
            pl.col("value").null_count().alias("missing"),
        )
    )
    place = {chain: position for position, chain in enumerate(data.chains.select("editor", "case").iter_rows())}
    found: dict[tuple[str, str], Floats] = {}
    for editor, case, metric, leg, mean, share, readings, missing in counted.iter_rows():
        every = found.setdefault((metric, leg), np.tile((np.nan, np.nan, 0.0, 0.0), (len(place), 1)))
        gone = (np.nan, np.nan) if mean is None else (mean, share)
        every[place[editor, case]] = (*gone, readings, missing)
    declared = list(metrics)
    order = sorted(found, key=lambda one: (declared.index(one[0]), LEGS.index(one[1]) if one[1] in LEGS else -1))
    return {one: found[one] for one in order}


def _only_leg(metrics: Mapping[str, MetricFacts]) -> dict[str, str]:
    """Metrics of one kind of step, whose rows need not say which it was."""
    return {name: fact.roles[0] for name, fact in metrics.items() if len(fact.roles) == 1}
