"""Score against step: the mean of a cell's runs with their smallest and largest, on 0…100 and raw."""

from __future__ import annotations

import polars as pl

from convergebench.analysis.audit.material import Material, shaped

_CELL = ["run", "editor", "source", "pair"]


def trace_table(material: Material) -> pl.DataFrame:
    """The frame `traces`: every step that was scored, chains of additions too; no value where no run has one."""
    cells = material.chains.select("chain", "cell")
    score = pl.col("scaled")
    found = (
        material.scores.join(cells, on="chain")
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
    names = material.chains.select("cell", *_CELL).unique()
    return shaped("traces", found.join(names, on="cell", how="left", maintain_order="left"))
