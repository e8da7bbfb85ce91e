"""Plain tallies along the chain: drift diagnostics per step, and how chains ended and what they cost."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from convergebench.analysis.schemas import OUTPUTS, clean
from convergebench.analysis.trajectories import usable_value
from convergebench.metrics.base import MetricFacts


def diagnostics_table(measurements: pl.DataFrame, facts: Mapping[str, MetricFacts]) -> pl.DataFrame:
    """The frame `diagnostics`: mean of every diagnostic metric per editor and step."""
    names = [name for name, fact in facts.items() if fact.kind == "diagnostic"]
    if not measurements.width:
        return pl.DataFrame(schema=OUTPUTS["diagnostics"])
    value = usable_value()
    frame = (
        measurements.lazy()
        .filter(pl.col("metric").is_in(names))
        .with_columns(pl.when(value.is_finite()).then(value).alias("value"))
        .group_by("editor", "metric", "step", maintain_order=True)
        .agg(
            pl.col("value").mean().alias("mean"),
            pl.col("value").count().alias("n_cases"),
            pl.col("value").null_count().alias("n_missing"),
        )
        .sort("editor", "metric", "step")
        .collect()
    )
    return clean(_declared(frame, "diagnostics"))


def outcomes_table(chains: pl.DataFrame) -> pl.DataFrame:
    """The frame `outcomes`: chains, steps, dollars and seconds per editor and status."""
    frame = chains.group_by("editor", "status", maintain_order=True).agg(
        pl.len().alias("chains"), pl.col("steps").sum(), pl.col("dollars").sum(), pl.col("seconds").sum()
    )
    return clean(_declared(frame, "outcomes"))


def _declared(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    return frame.select(pl.col(column).cast(kind) for column, kind in OUTPUTS[name].items())
