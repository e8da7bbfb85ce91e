"""A variant against its baseline, and how often the requested operation happened.

Both are paired by source image: for every image the mean over its runs under the variant minus the mean over its runs
under the baseline, at the same step. Intervals are over whole images. Runs that were refused or failed before the step
are counted as missing. Decibels are averaged as squared errors; an image that one side copied without any error has no
finite difference and is missing too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.decay_result import SCHEMAS
from convergebench.analysis.schemas import clean
from convergebench.analysis.trajectories import usable_value
from convergebench.metrics.base import MetricFacts

DONE = 0.5
"""Adherence from which a step counts as done: nearer to the request than to the state before."""


def variant_table(
    measurements: pl.DataFrame,
    chains: pl.DataFrame,
    pairs: Mapping[str, Mapping[str, Any]],
    facts: Mapping[str, MetricFacts],
    *,
    points: Sequence[int],
    bootstrap: Bootstrap,
) -> pl.DataFrame:
    """The frame `variants`: every variant that has a baseline in the run, at these steps and at the last one."""
    baselines = {label: str(pair["baseline"]) for label, pair in pairs.items() if pair.get("baseline") in pairs}
    if not baselines or not measurements.height:
        return pl.DataFrame(schema=SCHEMAS["variants"])
    names = [name for name, fact in facts.items() if fact.kind in ("full-reference", "semantic", "no-reference")]
    rows = measurements.filter(
        pl.col("metric").is_in(names), pl.col("role").is_in(["return", "around", "first"])
    ).with_columns(usable_value().alias("value"))
    found: list[dict[str, object]] = []
    for (editor, metric), part in rows.partition_by("editor", "metric", as_dict=True).items():
        decibels = facts[str(metric)].unit == "dB"
        asked = chains.filter(editor=editor)
        for label, baseline in baselines.items():
            both = part.filter(pl.col("pair").is_in([label, baseline]))
            planned = asked.filter(pl.col("pair").is_in([label, baseline]))
            for row in _differences(both, planned, label, baseline, points, bootstrap, decibels=decibels):
                known = {"editor": editor, "pair": label, "baseline": baseline, "metric": metric}
                found.append({**known, "category": pairs[label].get("family", ""), **row})
    return clean(pl.DataFrame(found, schema=SCHEMAS["variants"]))


def _differences(
    rows: pl.DataFrame,
    planned: pl.DataFrame,
    label: str,
    baseline: str,
    points: Sequence[int],
    bootstrap: Bootstrap,
    *,
    decibels: bool,
) -> Iterator[dict[str, object]]:
    own, other = rows.filter(pair=label), rows.filter(pair=baseline)
    last = min((part["step"].max() or 0 for part in (own, other)), default=0)
    steps = set(own["step"]) & set(other["step"])
    for step in sorted(steps & {*points, last}):
        at_step = own.filter(step=step), other.filter(step=step)
        shared = set(at_step[0]["source"]) & set(at_step[1]["source"])
        if not shared:
            continue
        parts = [part.filter(pl.col("source").is_in(list(shared))) for part in at_step]
        means = _means(parts[0], "mean", decibels).join(_means(parts[1], "baseline_mean", decibels), on="source")
        means = means.filter(pl.col("mean").is_finite() & pl.col("baseline_mean").is_finite()).sort("source")
        if not means.height:
            continue
        kept = means["source"].to_list()
        known = sum(part.filter(pl.col("source").is_in(kept))["value"].count() for part in parts)
        columns = means.select("mean", "baseline_mean", (pl.col("mean") - pl.col("baseline_mean")).alias("difference"))
        band = bootstrap.ratio(columns.to_numpy().astype(np.float64), np.ones((means.height, 3)))
        yield {
            "step": step,
            **dict(zip(("mean", "baseline_mean", "difference"), map(float, band.estimate), strict=True)),
            **{"low": float(band.low[2]), "high": float(band.high[2])},
            **{"n_sources": means.height, "n_cases": known},
            "n_missing": planned.filter(pl.col("source").is_in(list(shared))).height - known,
        }


def _means(rows: pl.DataFrame, name: str, decibels: bool) -> pl.DataFrame:
    """The mean per image over its runs; decibels are averaged as squared errors."""
    value = pl.col("value")
    mean = -10 * (10 ** (-value / 10)).mean().log10() if decibels else value.mean()
    return rows.group_by("source").agg(mean.alias(name))


def success_table(
    measurements: pl.DataFrame, pairs: Mapping[str, Mapping[str, Any]], *, bootstrap: Bootstrap
) -> pl.DataFrame:
    """The frame `success`: steps at which a requested operation (mirror, rotate, add …) was done."""
    rows = measurements.filter(pl.col("metric") == "happened") if measurements.height else measurements
    found: list[dict[str, object]] = []
    if rows.height:
        operations = {label: pair["operations"] for label, pair in pairs.items() if pair.get("operations")}
        asked = [
            operations[label][(step - 1) % len(operations[label])] if label in operations else ""
            for label, step in zip(rows["pair"], rows["step"], strict=True)
        ]
        done = usable_value().ge(DONE).cast(pl.Float64).alias("done")
        rows = rows.with_columns(pl.Series("operation", asked, dtype=pl.String), done).filter(pl.col("operation") != "")
        for (editor, label, operation), part in rows.partition_by("editor", "pair", "operation", as_dict=True).items():
            sums = part.group_by("source", maintain_order=True).agg(
                pl.col("done").sum().alias("sum"), pl.col("done").count().cast(pl.Float64).alias("count")
            )
            band = bootstrap.share(sums.select("sum").to_numpy(), sums.select("count").to_numpy())
            known = {"editor": editor, "pair": label, "operation": operation, "steps": part.height}
            counts = {"done": int(part["done"].sum() or 0), "n_missing": part["done"].null_count()}
            ends = {"share": float(band.estimate[0]), "low": float(band.low[0]), "high": float(band.high[0])}
            found.append({**known, **counts, **ends})
    return clean(pl.DataFrame(found, schema=SCHEMAS["success"])).sort("editor", "pair", "operation")
