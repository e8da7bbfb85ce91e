"""Pictures that a metric rates better although they are damaged: one per metric and editor, the worst first.

The score must have risen against its own baseline, and the picture must be plainly damaged: at least as much as the
median picture at that step. If a mild editor has no such picture, the median of its own pictures is the limit, and
`plain` is false. Where the damage of an editor's pictures was not measured the rise alone decides, and `plain` is None.
"""

from __future__ import annotations

import polars as pl

from convergebench.analysis.audit.audit_data import AuditData, shaped

_ORDER = ["plain", "gap", "damage", "metric", "run", "editor", "case", "at"]
_FALLING = [True, True, True, False, False, False, False, False]


def contradiction_table(own: pl.DataFrame, data: AuditData) -> pl.DataFrame:
    """The frame `contradictions`; `own` are the gaps of single runs."""
    names = data.copies.select("chain", "run", "editor", "case", "source", "pair", "replicate")
    damage = data.damage.join(names.select("chain", "editor"), on="chain")
    middle = damage.group_by("at").agg(pl.col("damage").median().alias("middle"))
    own_middle = damage.group_by("at", "editor").agg(pl.col("damage").median().alias("own_middle"))
    known = pl.col("editor").is_in(damage["editor"].unique().to_list())
    plain = pl.when(known).then((pl.col("damage") >= pl.col("middle")).fill_null(False))
    typical = (pl.col("damage") >= pl.col("own_middle")).fill_null(False)
    risen = (
        own.filter(pl.col("difference") > 0)
        .join(names, on="chain")
        .join(damage.select("chain", "at", "value", "damage"), on=["chain", "at"], how="left")
        .join(middle, on="at", how="left")
        .join(own_middle, on=["at", "editor"], how="left")
        .with_columns(plain.alias("plain"))
        .filter(pl.col("plain").fill_null(True) | typical)
        .sort(_ORDER, descending=_FALLING, nulls_last=True)
    )
    worst = risen.unique(["metric", "editor"], keep="first", maintain_order=True)
    return shaped(
        "contradictions",
        worst.with_columns(
            pl.col("scaled").alias("score"),
            pl.col("value").alias("damage"),
            pl.lit(data.damage_metric).alias("damage_metric"),
            pl.lit(data.settings.baseline).alias("base_at"),
        ),
    )
