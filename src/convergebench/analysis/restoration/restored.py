"""Every result with its value, and with that of the degraded input: the frame `restored`, and the metrics of tables."""

from __future__ import annotations

from math import inf

import polars as pl

from convergebench.analysis.parts import AnalysisContext
from convergebench.analysis.restoration.result import SCHEMAS, frame
from convergebench.analysis.schemas import declared
from convergebench.metrics.base import MetricFacts
from convergebench.studies.restoration import RESTORED
from convergebench.studies.restoration_table import DEGRADATIONS

EQUAL = 100.0
"""What a picture equal to the clean one counts in dB, since a mean with infinity in it says nothing."""
FINISHED = "finished"
NOT_MEASURED = "not measured"
ROUND = pl.col("round")


def restored_table(run: AnalysisContext) -> pl.DataFrame:
    """The frame `restored`: a row for every result that was asked for, with the reason where it has no value.

    A picture without a clean one has no rows of metrics that compare.
    """
    if not run.measurements.height or not run.chains.height:
        return frame("restored", [])
    measured = _measured(run)
    chain = ["editor", "case"]
    wanted = (
        run.chains.join(measured.select("source", "metric").unique(), on="source", how="inner")
        .join(_last_rounds(run.chains, measured), on=chain, how="left")
        .with_columns(pl.int_ranges(1, pl.col("last") + 1).alias("round"))
        .explode("round")
        .rename({"status": "ended"})
    )
    inputs = measured.filter(ROUND == 0).group_by("source", "metric").agg(pl.col("value").drop_nulls().first())
    found = wanted.join(
        measured.filter(ROUND > 0).select(*chain, "metric", "round", "value", "status"),
        on=[*chain, "metric", "round"],
        how="left",
    ).join(inputs.rename({"value": "before"}), on=["source", "metric"], how="left")
    why = pl.when(pl.col("ended") == FINISHED).then(pl.lit(NOT_MEASURED)).otherwise("ended")
    rows = found.with_columns(
        pl.col("status").fill_null(why),
        _set(run).alias("set"),
        (pl.col("metric").replace_strict(_signs(run), default=None) * (pl.col("value") - pl.col("before"))).alias(
            "gain"
        ),
    ).rename({"pair": "prompt", "category": "group"})
    order = {name: place for place, name in enumerate(run.facts)}
    place = pl.col("metric").replace_strict(order, default=len(order))
    return declared(rows, SCHEMAS["restored"]).sort("editor", "case", "round", place, "metric")


def table_metrics(run: AnalysisContext, restored: pl.DataFrame) -> tuple[str, ...]:
    """The metrics with a direction that were measured, those with a reference first; diagnostics have none."""
    there = set(restored["metric"].unique())
    used = [one for one in run.facts.values() if one.name in there and one.better != "neither"]
    return tuple(one.name for one in sorted(used, key=lambda one: not needs_reference(one)))


def needs_reference(facts: MetricFacts) -> bool:
    """Whether a metric compares with the clean picture."""
    return facts.kind not in ("no-reference", "diagnostic")


def sign(facts: MetricFacts) -> int:
    """1 where higher values are better, −1 where lower ones are."""
    return -1 if facts.better == "lower" else 1


def _measured(run: AnalysisContext) -> pl.DataFrame:
    """The measurements of the study's own role and the diagnostics of results, under plain names, finite."""
    decibel = pl.col("metric").is_in([one.name for one in run.facts.values() if one.unit == "dB"])
    diagnostic = pl.col("metric").is_in([one.name for one in run.facts.values() if one.kind == "diagnostic"])
    value = pl.col("value")
    return (
        run.measurements.filter((pl.col("role") == RESTORED) | ((pl.col("role") == "step") & diagnostic))
        .with_columns(pl.col("metric").str.strip_suffix(f"-{RESTORED}"))
        .with_columns(pl.when(decibel & (value == inf)).then(EQUAL).when(value.is_finite()).then(value).alias("value"))
        .unique(["editor", "case", "round", "metric"], keep="first", maintain_order=True)
    )


def _last_rounds(chains: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Per chain the last round that was asked for, or that has a value where nobody said."""
    seen = measured.group_by("editor", "case").agg(ROUND.max().alias("seen"))
    last = pl.max_horizontal(pl.col("planned").fill_null(1), pl.col("seen").fill_null(1))
    return chains.join(seen, on=["editor", "case"], how="left").select("editor", "case", last.alias("last"))


def _set(run: AnalysisContext) -> pl.Expr:
    """A picture is of a degradation's own set if its kind is the name of what spoilt it."""
    own = {name: str(facts.get("degradation") or "") for name, facts in run.sources.items()}
    spoilt_by = pl.col("source").replace_strict(own, default="", return_dtype=pl.String)
    named = pl.col("kind").is_in(list(DEGRADATIONS)) | (pl.col("kind") == spoilt_by)
    return pl.when(named).then(pl.lit("degradation")).otherwise(pl.lit("scene"))


def _signs(run: AnalysisContext) -> dict[str, int | None]:
    return {name: None if one.better == "neither" else sign(one) for name, one in run.facts.items()}
