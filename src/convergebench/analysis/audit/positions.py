"""The position of each picture in its chain, as an audit counts, and the role of each chain in the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import polars as pl

from convergebench.metrics.base import MetricFacts

Pairs = Mapping[str, Mapping[str, Any]]
"""Label of a case → its instructions and how its steps are compared, as in the manifest."""
_RATED = ("source", "return", "around")
_KEY = ("editor", "case", "step")
SAME = 1e-9
"""Tolerance for the value of equal pictures: sums of many numbers are not exactly 1."""


def positions(
    scores: pl.DataFrame, measured: pl.DataFrame, pairs: Pairs, *, by: Literal["round", "step"]
) -> pl.DataFrame:
    """Editor, case, step and `at` of every picture that counts.

    By `step` every picture counts. By `round` only those that end a round count, where the picture should show the
    source again (or the source with additions): a chain of cycles is counted in cycles, so its third picture may be its
    first round. Where every step is a round, pictures that cannot be compared (e.g. turned sideways) count too.
    """
    columns = (*_KEY, "pair", "round", "role")
    seen = pl.concat([scores.select(columns), measured.select(columns).filter(pl.col("role").is_in(_RATED))])
    if by == "round":
        seen = seen.filter(pl.col("role").is_in(_RATED) | pl.col("pair").is_in(_compared(pairs, "whole", "around")))
    seen = seen.unique(_KEY, keep="first").sort(_KEY)
    if by == "step":
        return seen.select(*_KEY, pl.col("step").alias("at"))
    cycles = pl.col("pair").is_in(_compared(pairs, "cycle"))
    nth = (pl.col("step") > 0).cum_sum().over("editor", "case").cast(pl.Int64)
    at = pl.when(pl.col("step") == 0).then(0).when(cycles).then(nth).otherwise(pl.col("round"))
    found = seen.select(*_KEY, at.alias("at"))
    return found.unique(["editor", "case", "at"], keep="last", maintain_order=True)


def chain_roles(chains: pl.DataFrame, pairs: Pairs, still: pl.DataFrame, *, changes_stay: bool = False) -> pl.DataFrame:
    """The chains with their `role` as in `AuditInput.chains`, and `still`: copies whose pictures are all equal.

    Those have no damage that a metric could notice and are not audited, since a gap of 0 counts as a failure.
    `changes_stay` is the study's default for pairs that do not say how they are compared.
    """
    otherwise = "around" if changes_stay else "whole"
    roles = {pair: _role(pairs.get(pair, {}), otherwise) for pair in chains["pair"].unique()}
    role = pl.col("pair").replace_strict(roles, return_dtype=pl.String)
    found = chains.with_columns(role.alias("role")).join(
        still.with_columns(pl.lit(value=True).alias("still")), on=["editor", "case"], how="left"
    )
    stands = pl.col("still").fill_null(value=False) & (pl.col("role") == "copies")
    return found.with_columns(stands.alias("still")).with_columns(
        pl.when("still").then(pl.lit("other")).otherwise(pl.col("role")).alias("role")
    )


def standing_still(
    steps: pl.DataFrame, measured: pl.DataFrame, facts: Mapping[str, MetricFacts], baseline: int = 1
) -> pl.DataFrame:
    """Editor and case of chains whose pictures are all equal: one file, or equal by every full-reference metric.

    Metadata can make files of equal pictures differ. Where the untouched picture is the baseline it must be equal too,
    since a change by the first step is then damage.
    """
    chain = ["editor", "case"]
    made = steps.filter(pl.col("index") >= min(1, baseline), pl.col("image").is_not_null())
    files = made.group_by(chain).agg(pl.col("image").n_unique().alias("files"), pl.len().alias("pictures"))
    files = files.filter(pl.col("files") == 1, pl.col("pictures") > 1)
    same = {name: one.self_value for name, one in facts.items() if one.self_value is not None}
    values = measured.filter(
        pl.col("metric").is_in(list(same)), pl.col("role").is_in(["return", "first"] if baseline else ["return"])
    )
    own = pl.col("metric").replace_strict(same, default=None, return_dtype=pl.Float64)
    alike = (pl.col("value") - own).abs().fill_null(float("inf")) < SAME
    judged = values.with_columns(alike.alias("alike")).group_by(*chain, "role")
    unmoved = judged.agg(pl.col("alike").all(), pl.col("step").n_unique()).filter("alike", pl.col("step") > 1)
    return pl.concat([files.select(chain), unmoved.select(chain)]).unique()


def returning(pairs: Pairs) -> list[str]:
    """Pairs whose pictures show the source only where a round ends: round trips and cycles."""
    there_and_back = [pair for pair, facts in pairs.items() if "backward" in facts]
    return [*there_and_back, *_compared(pairs, "cycle")]


def _role(facts: Mapping[str, Any], otherwise: str) -> str:
    compared = facts.get("compared", otherwise)
    if facts.get("independent"):
        return "additions-apart" if compared == "around" else "other"
    return "additions" if compared == "around" else "copies"


def _compared(pairs: Pairs, *how: str) -> list[str]:
    return [pair for pair, facts in pairs.items() if facts.get("compared") in how]
