"""Where a metric says "better" and the eye says "worse": real pictures, one per metric and editor, the worst first.

The picture must have risen against its own baseline, and be plainly damaged: at least as much as the median picture at
that step. A mild editor may have no such picture beside a harsh one; then it is held against the median of its own
pictures, and `plain` is false. Where nobody measured the damage of an editor's pictures the rise alone decides, and
`plain` is None.
"""

from __future__ import annotations

import polars as pl

from convergebench.analysis.audit.material import Material, shaped

_ORDER = ["plain", "gap", "damage", "metric", "run", "editor", "case", "at"]
_FALLING = [True, True, True, False, False, False, False, False]


def contradiction_table(own: pl.DataFrame, material: Material) -> pl.DataFrame:
    """The frame `contradictions`; `own` are the gaps of single runs, `damage` is as the damage metric prints it."""
    names = material.copies.select("chain", "run", "editor", "case", "source", "pair", "replicate")
    damage = material.damage.join(names.select("chain", "editor"), on="chain")
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
            pl.lit(material.damage_metric).alias("damage_metric"),
            pl.lit(material.settings.baseline).alias("base_at"),
        ),
    )
