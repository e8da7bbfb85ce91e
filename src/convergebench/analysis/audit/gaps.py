"""Gaps against the baseline, cells, and how many of them fail.

A gap is the score at a step minus the score at the baseline, first within each run, then averaged over the runs that
have both. It must be negative: the picture is worse, and a metric that notices says so. Exactly 0 fails too and is
marked. The difference is taken of the raw scores, so equal scores give exactly 0, and the verdict is on the raw
difference, so the range used for scaling cannot change it.

A cell (one image under one editor) fails if any of its gaps fails. Where a gap is missing and no other fails, nobody
knows: the cell is no success and no part of the share, it is counted as missing. If it has a gap at all it is open: it
could have come into the share by failing, never by being noticed, so the share leans towards failure. The interval
therefore reaches from all open cells noticed to all of them failed. Intervals are Wilson's and take source images as
units, since cells of one image are alike; of one image there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from convergebench.analysis.audit.clusters import with_all
from convergebench.analysis.audit.material import ALL, Material, shaped, table
from convergebench.analysis.audit.scaling import scale_table
from convergebench.analysis.failures import wilson

CELL = ["run", "editor", "source", "pair"]


def run_gaps(material: Material, gaps: Sequence[int]) -> pl.DataFrame:
    """One row per chain of copies, metric and step: `difference` is raw and turned so that more is better."""
    copies = material.copies.select("chain", "cell", "run")
    names = pl.Enum(list(material.scales))
    steps = pl.DataFrame({"at": pl.Series(list(gaps), dtype=pl.Int64)})
    grid = copies.join(material.asked, on="run", maintain_order="left").join(steps, how="cross")
    wanted = [*gaps, material.settings.baseline]
    scores = material.scores.filter(pl.col("at").is_in(wanted)).select("chain", "metric", "at", "raw", "scaled")
    base = scores.filter(at=material.settings.baseline).select(
        "chain", "metric", pl.col("raw").alias("base"), pl.col("scaled").alias("base_score")
    )
    both = pl.col("raw").is_not_null() & pl.col("base").is_not_null()
    return (
        grid.join(scores, on=["chain", "metric", "at"], how="left", maintain_order="left")
        .join(base, on=["chain", "metric"], how="left", maintain_order="left")
        .join(scale_table(material.scales, names), on="metric", how="left", maintain_order="left")
        .with_columns((pl.col("sign") * (pl.col("raw") - pl.col("base"))).alias("difference"), both.alias("both"))
        .with_columns((100 * pl.col("difference") / pl.col("width")).alias("gap"))
        .select("chain", "cell", "metric", "at", "both", "difference", "gap", "width", "base_score", "scaled")
    )


def cell_gaps(own: pl.DataFrame, material: Material) -> pl.DataFrame:
    """The frame `gaps`: per cell and step, over the runs that have both scores."""
    worst, there = pl.col("difference").max(), pl.col("both")
    means = own.group_by("cell", "metric", "at").agg(
        pl.col("difference").mean().alias("mean"),
        worst.alias("worst"),
        pl.col("width").first(),
        pl.col("base_score").filter(there).mean(),
        pl.col("scaled").filter(there).mean().alias("score"),
        there.sum().alias("n_runs"),
        (~there).sum().alias("n_missing"),
    )
    mean = pl.col("mean")
    cells = material.copies.select("cell", *CELL).unique()
    found = means.join(cells, on="cell").with_columns(
        (100 * mean / pl.col("width")).alias("gap"),
        (100 * pl.col("worst") / pl.col("width")).alias("worst_gap"),
        (mean >= 0).alias("failed"),
        (mean == 0).alias("zero"),
        (pl.col("worst") >= 0).alias("failed_any"),
    )
    return shaped("gaps", found.sort("metric", *CELL, "at"))


def cell_table(gaps: pl.DataFrame) -> pl.DataFrame:
    """The frame `cells`: how many gaps of each cell fail, of those that are known."""
    found = gaps.group_by(*CELL, "metric", maintain_order=True).agg(
        pl.col("failed").sum().alias("failures"),
        pl.col("failed_any").sum().alias("failures_any"),
        pl.col("failed").count().alias("known"),
        pl.len().alias("asked"),
    )
    return shaped("cells", found)


def tallies(gaps: pl.DataFrame, confidence: float) -> list[dict[str, Any]]:
    """Per metric and editor, and `all` of them: cells that fail, with the interval of their share."""
    cells = gaps.group_by(*CELL, "metric", maintain_order=True).agg(
        pl.col("failed").any().alias("failed"),
        pl.col("failed_any").any().alias("failed_any"),
        pl.col("zero").any().alias("zero"),
        pl.col("failed").is_null().any().alias("partly"),
        pl.col("failed").is_not_null().any().alias("some"),
        (pl.col("n_missing") > 0).any().alias("short"),
    )
    failed, zero = (pl.col(name).fill_null(False) for name in ("failed", "zero"))
    any_run = pl.col("failed_any").fill_null(False)
    cells = cells.with_columns(failed, zero, any_run, (pl.col("partly") & ~failed).alias("unknown"))
    every = with_all(cells.with_columns(pl.col("editor").alias("of")))
    found = every.group_by("metric", "editor", maintain_order=True).agg(
        pl.len().alias("n_cells"),
        pl.col("failed").sum().alias("n_failed"),
        pl.col("failed_any").sum().alias("n_failed_any"),
        pl.col("zero").sum().alias("n_zero"),
        pl.col("unknown").sum().alias("n_missing"),
        pl.col("source").filter(~pl.col("unknown")).n_unique().alias("n_sources"),
        pl.col("of").filter(~pl.col("unknown")).n_unique().alias("n_editors"),
        (pl.col("unknown") & pl.col("some")).sum().alias("open"),
        pl.col("source").filter(~pl.col("unknown") | pl.col("some")).n_unique().alias("images"),
        pl.col("short").any().alias("short"),
    )
    return [_told(row, confidence) for row in found.iter_rows(named=True)]


def _told(row: dict[str, Any], confidence: float) -> dict[str, Any]:
    decided, failed, images = row["n_cells"] - row["n_missing"], row["n_failed"], row["images"]
    seen = decided + row["open"]
    share = failed / decided if decided else None
    low, high = None, None
    if decided and images > 1:
        low = wilson(failed * images / seen, images, confidence)[0]
        high = wilson((failed + row["open"]) * images / seen, images, confidence)[1]
    complete = row["n_missing"] == 0 and row["n_cells"] > 0
    return {
        **row,
        **{"share": share, "low": low, "high": high, "decided": decided, "seen": seen},
        "white": complete and row["n_failed"] == 0,
        # a run that is missing might be the one that fails
        "white_any": complete and row["n_failed_any"] == 0 and not row["short"],
    }


def failure_table(found: Sequence[dict[str, Any]], order: Sequence[str]) -> pl.DataFrame:
    """The frame `failures`: metrics in their order, `all` first."""
    place = {name: position for position, name in enumerate(order)}
    rows = sorted(found, key=lambda row: (place[row["metric"]], row["editor"] != ALL, row["editor"]))
    return table("failures", rows)
