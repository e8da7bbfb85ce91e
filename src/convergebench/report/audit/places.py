"""Where each picture stands in its chain as an audit counts, and what each chain is good for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import polars as pl

from convergebench.metrics.base import MetricFacts
from convergebench.store.manifest import Manifest

_RATED = ("source", "return", "around")
_KEY = ("editor", "case", "step")
SAME = 1e-9
"""Values that are no further from those of equal pictures are theirs: sums of many numbers do not end at 1 exactly."""


def places(
    scores: pl.DataFrame, measured: pl.DataFrame, manifest: Manifest, *, by: Literal["round", "step"]
) -> pl.DataFrame:
    """Editor, case, step and `at` of every picture that counts.

    By `step` every picture does. By `round` only those that close one do, where the picture should show the source
    again (or the source with what was added): a chain of cycles is counted in cycles, so that its third picture may be
    its first round. Where every step is a round, a picture that lies so that nothing can be held against it counts too.
    """
    columns = (*_KEY, "pair", "round", "role")
    seen = pl.concat([scores.select(columns), measured.select(columns).filter(pl.col("role").is_in(_RATED))])
    if by == "round":
        seen = seen.filter(pl.col("role").is_in(_RATED) | pl.col("pair").is_in(_compared(manifest, "whole", "around")))
    seen = seen.unique(_KEY, keep="first").sort(_KEY)
    if by == "step":
        return seen.select(*_KEY, pl.col("step").alias("at"))
    cycles = pl.col("pair").is_in(_compared(manifest, "cycle"))
    nth = (pl.col("step") > 0).cum_sum().over("editor", "case").cast(pl.Int64)
    at = pl.when(pl.col("step") == 0).then(0).when(cycles).then(nth).otherwise(pl.col("round"))
    found = seen.select(*_KEY, at.alias("at"))
    return found.unique(["editor", "case", "at"], keep="last", maintain_order=True)


def chain_roles(chains: pl.DataFrame, manifest: Manifest, still: pl.DataFrame) -> pl.DataFrame:
    """The chains with their `role`, as `AuditInput.chains` has it, and whether they are copies that stand `still`.

    Those have no damage that a metric could notice; they are not audited, since a gap of 0 would count against all.
    """
    roles = {pair: _role(manifest, pair) for pair in chains["pair"].unique()}
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
    """Editor and case of chains whose pictures are all one: the same file, or the same to every full-reference metric.

    A file may carry more than its pixels, so that pictures without a difference can be different files. Where the
    untouched picture is the baseline it must be the same too: what the first step does is damage then.
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


def returning(manifest: Manifest) -> list[str]:
    """Pairs whose pictures show the source only where a round ends: round trips and cycles."""
    there_and_back = [pair for pair, facts in manifest.pairs.items() if "backward" in facts]
    return [*there_and_back, *_compared(manifest, "cycle")]


def _role(manifest: Manifest, pair: str) -> str:
    facts: Mapping[str, Any] = manifest.pairs.get(pair, {})
    # the wishes of a session stay in the picture, whether a variant or a study of their own walks them
    compared = facts.get("compared", "around" if manifest.study == "session" else "whole")
    if facts.get("independent"):
        return "additions-apart" if compared == "around" else "other"
    return "additions" if compared == "around" else "copies"


def _compared(manifest: Manifest, *how: str) -> list[str]:
    return [pair for pair, facts in manifest.pairs.items() if facts.get("compared") in how]
