"""Does the score fall as the chain goes on, and as the damage grows? Spearman's rank correlation within each chain.

−1 is right: every step scores worse than the one before. Correlations are taken within a chain, so what is on the
picture cannot make them, and then averaged over chains. A chain whose scores (or whose damage) never change has none;
nor has one with fewer than three pictures, since two always correlate perfectly. Both are counted.
"""

from __future__ import annotations

import polars as pl

from convergebench.analysis.audit.clusters import means, with_all
from convergebench.analysis.audit.material import ALL, COPIES, Material, table
from convergebench.analysis.audit.scaling import scale_table

STEP = "step"
ENOUGH_PICTURES = 3


def rank_table(material: Material) -> pl.DataFrame:
    """The frame `ranks`: per metric and editor (and `all`), against the step and against the damage metric."""
    scores = material.of(COPIES).filter(pl.col("at") >= material.settings.baseline, pl.col("raw").is_not_null())
    signs = scale_table(material.scales, pl.Enum(list(material.scales))).select("metric", "sign")
    # ranks of the raw score, turned: scaling would not change them, rounding could
    turned = (pl.col("raw") * pl.col("sign")).alias("score")
    scores = scores.join(signs, on="metric").select("chain", "metric", "at", turned)
    asked = material.copies.select("chain", "run", "editor", "source").join(material.asked, on="run").drop("run")
    rows = _rows(scores.with_columns(pl.col("at").alias("other")), asked, material, STEP)
    if material.damage_metric:
        both = scores.join(material.damage.select("chain", "at", "damage"), on=["chain", "at"])
        rows += _rows(both.rename({"damage": "other"}), asked, material, material.damage_metric)
    place = {name: position for position, name in enumerate(material.scales)}
    rows.sort(key=lambda row: (place[str(row["metric"])], row["editor"] != ALL, row["editor"], row["against"] != STEP))
    return table("ranks", rows)


def _rows(pairs: pl.DataFrame, asked: pl.DataFrame, material: Material, against: str) -> list[dict[str, object]]:
    within = ["chain", "metric"]
    # ranks first and in one go: a correlation per group would sort each group by itself
    ranked = pairs.select(
        *within,
        pl.col("score").rank("average").over(within).alias("score"),
        pl.col("other").rank("average").over(within).alias("other"),
    )
    score, other = (pl.col(name) - pl.col(name).mean() for name in ("score", "other"))
    square = (score**2).sum() * (other**2).sum()
    rho = (score * other).sum() / square.sqrt()
    defined = (pl.len() >= ENOUGH_PICTURES) & (square > 0)
    found = ranked.group_by(within).agg(pl.when(defined).then(rho.clip(-1, 1)).alias("rho"))
    every = with_all(asked.join(found, on=within, how="left")).with_columns(pl.col("metric").cast(pl.String))
    counts = every.group_by("metric", "editor").agg(pl.col("rho").null_count().alias("n_undefined"))
    known = {
        (row["metric"], row["editor"]): row for row in means(every, ["metric", "editor"], "rho", material.bootstrap)
    }
    rows: list[dict[str, object]] = []
    for metric, editor, undefined in counts.iter_rows():
        row = known.get((metric, editor), {"mean": None, "n": 0, "n_sources": 0})
        rows.append(
            {"metric": metric, "editor": editor, "against": against, "n_undefined": undefined, "rho": row["mean"]}
            | {"low": row.get("low"), "high": row.get("high"), "n_chains": row["n"], "n_sources": row["n_sources"]}
        )
    return rows
