"""Gaps against the baseline, cells, and how many of them fail.

A gap is the score at a step minus the score at the baseline, first within each run, then averaged over the runs that
have both. It must be negative, since the picture is worse. Exactly 0 fails too and is marked. Differences are taken of
the raw scores, so equal scores give exactly 0 and the range used for scaling cannot change which gap fails.

A cell (one image under one editor) fails if any of its gaps fails. If a gap is missing and no other fails, the cell is
unknown: counted as missing, neither a success nor part of the share. An unknown cell that has a gap is open: it could
have entered the share only by failing, which biases the share towards failure. The interval therefore reaches from no
open cell failed to all of them failed. It takes whole source images as units, since cells of one image are alike; fewer
than five images have no interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from convergebench.analysis.audit.audit_data import ALL, CELL, AuditData, shaped, table
from convergebench.analysis.audit.clusters import number, with_all
from convergebench.analysis.audit.scaling import scale_table
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.trajectories import Floats


def run_gaps(data: AuditData, gaps: Sequence[int]) -> pl.DataFrame:
    """One row per chain of copies, metric and step: `difference` is raw, with the sign that makes higher better."""
    copies = data.copies.select("chain", "cell", "run")
    names = pl.Enum(list(data.scales))
    steps = pl.DataFrame({"at": pl.Series(list(gaps), dtype=pl.Int64)})
    grid = copies.join(data.asked, on="run", maintain_order="left").join(steps, how="cross")
    used = [*gaps, data.settings.baseline]
    scores = data.scores.filter(pl.col("at").is_in(used)).select("chain", "metric", "at", "raw", "scaled")
    base = scores.filter(at=data.settings.baseline).select(
        "chain", "metric", pl.col("raw").alias("base"), pl.col("scaled").alias("base_score")
    )
    both = pl.col("raw").is_not_null() & pl.col("base").is_not_null()
    return (
        grid.join(scores, on=["chain", "metric", "at"], how="left", maintain_order="left")
        .join(base, on=["chain", "metric"], how="left", maintain_order="left")
        .join(scale_table(data.scales, names), on="metric", how="left", maintain_order="left")
        .with_columns((pl.col("sign") * (pl.col("raw") - pl.col("base"))).alias("difference"), both.alias("both"))
        .with_columns((100 * pl.col("difference") / pl.col("width")).alias("gap"))
        .select("chain", "cell", "metric", "at", "both", "difference", "gap", "width", "base_score", "scaled")
    )


def cell_gaps(own: pl.DataFrame, data: AuditData) -> pl.DataFrame:
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
    cells = data.copies.select("cell", *CELL).unique()
    found = means.join(cells, on="cell").with_columns(
        (100 * mean / pl.col("width")).alias("gap"),
        (100 * pl.col("worst") / pl.col("width")).alias("worst_gap"),
        (mean >= 0).alias("failed"),
        (mean == 0).alias("zero"),
        (pl.col("worst") >= 0).alias("failed_any"),
    )
    return shaped("gaps", found.sort("metric", *CELL, "at"))


def cell_table(gaps: pl.DataFrame) -> pl.DataFrame:
    """The frame `cells`: how many gaps of each cell fail, of the known ones."""
    found = gaps.group_by(*CELL, "metric", maintain_order=True).agg(
        pl.col("failed").sum().alias("failures"),
        pl.col("failed_any").sum().alias("failures_any"),
        pl.col("failed").count().alias("known"),
        pl.len().alias("asked"),
    )
    return shaped("cells", found)


def tallies(gaps: pl.DataFrame, bootstrap: Bootstrap) -> list[dict[str, Any]]:
    """Per metric and editor (and `all`): cells that fail, with the interval of their share."""
    every = with_all(cell_states(gaps).with_columns(pl.col("editor").alias("of")))
    found = every.group_by("metric", "editor", maintain_order=True).agg(
        pl.len().alias("n_cells"),
        pl.col("failed").sum().alias("n_failed"),
        pl.col("failed_any").sum().alias("n_failed_any"),
        pl.col("zero").sum().alias("n_zero"),
        pl.col("unknown").sum().alias("n_missing"),
        pl.col("source").filter(~pl.col("unknown")).n_unique().alias("n_sources"),
        pl.col("of").filter(~pl.col("unknown")).n_unique().alias("n_editors"),
        pl.col("open").sum(),
        pl.col("short").any().alias("short"),
    )
    by_source = _by_source(every)
    keyed = ((row, (row["metric"], row["editor"])) for row in found.iter_rows(named=True))
    return [_with_share(row, by_source.get(key), bootstrap) for row, key in keyed]


def cell_states(gaps: pl.DataFrame) -> pl.DataFrame:
    """Per cell and metric: `failed`, `unknown` and `open` (unknown, though it has a gap)."""
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
    return cells.with_columns((pl.col("unknown") & pl.col("some")).alias("open"))


def _by_source(cells: pl.DataFrame) -> dict[tuple[str, str], Floats]:
    """Metric and editor → per source image: cells that fail, that are open, and all with a gap."""
    seen = cells.filter(~pl.col("unknown") | pl.col("open"))
    sums = seen.group_by("metric", "editor", "source").agg(pl.col("failed", "open").sum(), pl.len().alias("seen"))
    return {
        (str(metric), str(editor)): part.select(pl.col("failed", "open", "seen").cast(pl.Float64)).to_numpy()
        for (metric, editor), part in sums.sort("metric", "editor", "source").group_by("metric", "editor")
    }


def _with_share(row: dict[str, Any], sums: Floats | None, bootstrap: Bootstrap) -> dict[str, Any]:
    """A tally with its share, interval and whether its column of the heatmap is white."""
    decided, failed = row["n_cells"] - row["n_missing"], row["n_failed"]
    images = 0 if sums is None else sums.shape[0]
    low, high = None, None
    if sums is not None and decided:
        counts = sums[:, 2:]
        low = number(bootstrap.share(sums[:, :1], counts).low[0])
        high = number(bootstrap.share(sums[:, :1] + sums[:, 1:2], counts).high[0])
    complete = row["n_missing"] == 0 and row["n_cells"] > 0
    return {
        **row,
        **{"share": failed / decided if decided else None, "low": low, "high": high},
        **{"decided": decided, "seen": decided + row["open"], "images": images},
        "white": complete and row["n_failed"] == 0,
        # a missing run might be the one that fails
        "white_any": complete and row["n_failed_any"] == 0 and not row["short"],
    }


def failure_table(found: Sequence[dict[str, Any]], order: Sequence[str]) -> pl.DataFrame:
    """The frame `failures`: metrics in their order, `all` first."""
    place = {name: position for position, name in enumerate(order)}
    rows = sorted(found, key=lambda row: (place[row["metric"]], row["editor"] != ALL, row["editor"]))
    return table("failures", rows)
