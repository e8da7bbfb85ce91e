"""Plain counts and means: drift diagnostics per step, and chains by status with their cost."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from convergebench.analysis.schemas import OUTPUTS, declared
from convergebench.analysis.trajectories import usable_value
from convergebench.metrics.base import MetricFacts


def diagnostics_table(measurements: pl.DataFrame, facts: Mapping[str, MetricFacts]) -> pl.DataFrame:
    """The frame `diagnostics`: mean of every diagnostic metric per editor and step, over the same cases at every step.

    The last step is the one that at least half of the editor's chains reached, and only these chains are averaged: a
    wide picture whose chain ends must not make the others look narrower. `n_missing` counts the chains left out.
    """
    names = [name for name, fact in facts.items() if fact.kind == "diagnostic"]
    if not measurements.width:
        return pl.DataFrame(schema=OUTPUTS["diagnostics"])
    value = usable_value()
    rows = measurements.filter(pl.col("metric").is_in(names)).with_columns(
        pl.when(value.is_finite()).then(value).alias("value")
    )
    reached = rows.group_by("editor", "metric", "case").agg(pl.col("step").max().alias("reached"))
    # the median of the chains' last steps, rounded up: at least half of the chains reach it
    compared = reached.group_by("editor", "metric").agg(
        pl.col("reached").sort(descending=True).get((pl.len() - 1) // 2).alias("compared")
    )
    frame = (
        rows.join(reached, on=["editor", "metric", "case"])
        .join(compared, on=["editor", "metric"])
        .filter(pl.col("step") <= pl.col("compared"))
        .with_columns(pl.when(pl.col("reached") >= pl.col("compared")).then("value").alias("value"))
        .group_by("editor", "metric", "step", maintain_order=True)
        .agg(
            pl.col("value").mean().alias("mean"),
            pl.col("value").count().alias("n_cases"),
            pl.col("value").null_count().alias("n_missing"),
        )
        .sort("editor", "metric", "step")
    )
    return declared(frame, OUTPUTS["diagnostics"])


def outcomes_table(chains: pl.DataFrame) -> pl.DataFrame:
    """The frame `outcomes`: chains, steps, dollars and seconds per editor and status."""
    frame = chains.group_by("editor", "status", maintain_order=True).agg(
        pl.len().alias("chains"), pl.col("steps").sum(), pl.col("dollars").sum(), pl.col("seconds").sum()
    )
    return declared(frame, OUTPUTS["outcomes"])
