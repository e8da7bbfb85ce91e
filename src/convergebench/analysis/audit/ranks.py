"""Whether the score falls along the chain and with the damage: Spearman's rank correlation within each chain.

−1 is ideal: every step scores worse than the one before. Correlations are taken within a chain, so that content has no
effect, and then averaged over chains. A chain whose scores (or whose damage) never change has none, nor has one with
fewer than three pictures, since two always correlate perfectly; both are counted.
"""

from __future__ import annotations

import polars as pl

from convergebench.analysis.audit.audit_data import ALL, COPIES, AuditData, table
from convergebench.analysis.audit.clusters import means, with_all
from convergebench.analysis.audit.scaling import scale_table

STEP = "step"
ENOUGH_PICTURES = 3


def rank_table(data: AuditData) -> pl.DataFrame:
    """The frame `ranks`: per metric and editor (and `all`), against the step and against the damage metric."""
    scores = data.of(COPIES).filter(pl.col("at") >= data.settings.baseline, pl.col("raw").is_not_null())
    signs = scale_table(data.scales, pl.Enum(list(data.scales))).select("metric", "sign")
    # ranks of the signed raw score: scaling would not change them, but its rounding could
    turned = (pl.col("raw") * pl.col("sign")).alias("score")
    scores = scores.join(signs, on="metric").select("chain", "metric", "at", turned)
    asked = data.copies.select("chain", "run", "editor", "source").join(data.asked, on="run").drop("run")
    rows = _rows(scores.with_columns(pl.col("at").alias("other")), asked, data, STEP)
    if data.damage_metric:
        both = scores.join(data.damage.select("chain", "at", "damage"), on=["chain", "at"])
        rows += _rows(both.rename({"damage": "other"}), asked, data, data.damage_metric)
    place = {name: position for position, name in enumerate(data.scales)}
    rows.sort(key=lambda row: (place[str(row["metric"])], row["editor"] != ALL, row["editor"], row["against"] != STEP))
    return table("ranks", rows)


def _rows(pairs: pl.DataFrame, asked: pl.DataFrame, data: AuditData, against: str) -> list[dict[str, object]]:
    within = ["chain", "metric"]
    # ranks of all groups at once: a correlation per group would sort each group on its own
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
    known = {(row["metric"], row["editor"]): row for row in means(every, ["metric", "editor"], "rho", data.bootstrap)}
    rows: list[dict[str, object]] = []
    for metric, editor, undefined in counts.iter_rows():
        row = known.get((metric, editor), {"mean": None, "n": 0, "n_sources": 0})
        rows.append(
            {"metric": metric, "editor": editor, "against": against, "n_undefined": undefined, "rho": row["mean"]}
            | {"low": row.get("low"), "high": row.get("high"), "n_chains": row["n"], "n_sources": row["n_sources"]}
        )
    return rows
