"""Example chains of a run: the typical case, and how far every score moves along every chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from convergebench.analysis.series import facts_of_series
from convergebench.metrics.base import MetricFacts


class ScoreChange(NamedTuple):
    """How far a score moved from the first value of a chain to its last."""

    editor: str
    case: str
    metric: str
    change: float | None
    """As a share of the metric's range in the run, positive if better; None: it has no better direction."""


def score_changes(measurements: pl.DataFrame, facts: Mapping[str, MetricFacts]) -> list[ScoreChange]:
    """For every chain and metric, ordered by name; metrics that never change are left out."""
    measured = measurements.drop_nulls("value").filter(pl.col("value").is_finite())
    value = pl.col("value")
    spans = measured.group_by("metric").agg((value.max() - value.min()).alias("span"))
    ends = (
        measured.sort("step")
        .group_by("editor", "case", "metric", maintain_order=True)
        .agg((value.last() - value.first()).alias("change"))
        .join(spans, on="metric")
        .filter(pl.col("span") > 0)
        .sort("editor", "case", "metric")
    )
    found = []
    for editor, case, metric, change, span in ends.iter_rows():
        known = facts_of_series(metric, facts)
        sign = {"higher": 1.0, "lower": -1.0}.get(known.better if known else "neither")
        found.append(ScoreChange(editor, case, metric, None if sign is None else sign * change / span))
    return found


def typical_case(
    chains: pl.DataFrame, measurements: pl.DataFrame, editors: Sequence[str], metric: str, *, pair: str
) -> str | None:
    """The case whose last value is the median of the last editor, among those that all the editors finished.

    Without such cases, among those that all have begun; cases of `pair` are preferred.
    """
    if not editors or chains.height == 0:
        return None
    mine = chains.filter(pl.col("editor").is_in(list(editors)), pl.col("rounds") > 0)
    counted = mine.group_by("case").agg(
        pl.col("editor").n_unique().alias("n"), (pl.col("status") == "finished").sum().alias("finished")
    )
    common = counted.filter(pl.col("n") >= len(editors))
    finished = common.filter(pl.col("finished") >= len(editors))
    cases = (finished if finished.height else common)["case"].to_list()
    first = mine.filter(pl.col("pair") == pair, pl.col("case").is_in(cases))["case"].unique(maintain_order=True)
    cases = first.to_list() or cases
    if not cases:
        return None
    own = measurements.filter(
        pl.col("editor") == editors[-1], pl.col("metric") == metric, pl.col("case").is_in(cases)
    ).drop_nulls("value")
    ends = own.sort("round").group_by("case").agg(pl.col("value").last()).sort("value", "case")["case"].to_list()
    ordered = ends or sorted(cases)
    return str(ordered[(len(ordered) - 1) // 2])
