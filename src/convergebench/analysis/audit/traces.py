"""Score against step: the mean of a cell's runs with their smallest and largest, on 0…100 and raw."""

from __future__ import annotations

import polars as pl

from convergebench.analysis.audit.audit_data import CELL, AuditData, shaped


def trace_table(data: AuditData) -> pl.DataFrame:
    """The frame `traces`: every step that was scored, chains of additions too; no value where no run has one."""
    cells = data.chains.select("chain", "cell")
    score = pl.col("scaled")
    found = (
        data.scores.join(cells, on="chain")
        .group_by("cell", "metric", "at")
        .agg(
            score.mean().alias("mean"),
            score.min().alias("smallest"),
            score.max().alias("largest"),
            pl.col("raw").mean().alias("raw"),
            pl.col("raw").count().alias("n_runs"),
        )
        .sort("metric", "cell", "at")
    )
    names = data.chains.select("cell", *CELL).unique()
    return shaped("traces", found.join(names, on="cell", how="left", maintain_order="left"))


def mean_traces(traces: pl.DataFrame) -> pl.DataFrame:
    """at, mean, low, high, n: the mean of several traces per step, with the lowest and the highest value."""
    mean = pl.col("mean")
    found = traces.group_by("at").agg(
        mean.mean(), mean.min().alias("low"), mean.max().alias("high"), mean.count().alias("n")
    )
    return found.sort("at")
