"""What a filter lets through: pictures at a step that score at least as well as a percentile of untouched images do."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from convergebench.analysis.audit.clusters import with_all
from convergebench.analysis.audit.confound import ENOUGH_CLEAN
from convergebench.analysis.audit.material import ALL, Material, table
from convergebench.analysis.failures import wilson


def filter_table(material: Material, gaps: Sequence[int], clean: pl.DataFrame) -> pl.DataFrame:
    """The frame `filter_risk`: per metric, percentile, editor (and `all`) and step.

    The steps are the gaps and, per editor, the last step that all its chains share. Shares have Wilson intervals with
    source images as units. With too few untouched images there is no threshold, and so no share.
    """
    pictures = _pictures(material, gaps)
    rows: list[dict[str, object]] = []
    for name in material.scales:
        own = pictures.filter(pl.col("metric") == name)
        untouched = clean.filter(pl.col("metric") == name)["scaled"]
        for percentile in sorted(set(material.settings.percentiles)):
            threshold = untouched.quantile(percentile / 100, "linear") if untouched.len() >= ENOUGH_CLEAN else None
            known = {"metric": name, "percentile": percentile, "threshold": threshold}
            if threshold is not None:
                known["clean_share"] = (untouched >= threshold).mean()
            rows += [{**known, **row} for row in _shares(own, threshold, material.settings.confidence)]
    return table("filter_risk", rows)


def _pictures(material: Material, gaps: Sequence[int]) -> pl.DataFrame:
    """`metric`, `editor` (`all` too), `source`, `at`, `scaled` of the copies to look at."""
    copies = with_all(material.copies.select("chain", "editor", "source", "reach"))
    beyond = pl.col("reach").filter(pl.col("reach") > material.settings.baseline).min()
    common = copies.group_by("editor").agg(beyond.alias("common"))
    copies = copies.join(common, on="editor")
    ends = common["common"].drop_nulls().to_list()
    scores = material.scores.filter(pl.col("at").is_in([*gaps, *ends]), pl.col("raw").is_not_null())
    wanted = pl.col("at").is_in(list(gaps)) | (pl.col("at") == pl.col("common"))
    return scores.join(copies, on="chain").filter(wanted).select("metric", "editor", "source", "at", "scaled")


def _shares(own: pl.DataFrame, threshold: float | None, confidence: float) -> list[dict[str, object]]:
    passes = (pl.col("scaled") >= threshold).sum() if threshold is not None else pl.lit(None, dtype=pl.Int64)
    found = own.group_by("editor", "at").agg(
        pl.len().alias("n"), passes.alias("passed"), pl.col("source").n_unique().alias("images")
    )
    rows = []
    for row in found.sort(pl.col("editor") != ALL, "editor", "at").iter_rows(named=True):
        share = row["passed"] / row["n"] if row["passed"] is not None else None
        images = row.pop("images")
        low, high = wilson(share * images, images, confidence) if share is not None and images > 1 else (None, None)
        rows.append({**row, "share": share, "low": low, "high": high})
    return rows
