"""Whether a metric responds to damage or to the content of the picture.

The spread of its score over untouched images is the effect of content alone; the mean gap at the last step is that of
damage. Their ratio is an effect size: under 1, a damaged picture of one thing may well score better than a clean
picture of another. Its interval is that of the signed ratio over source images: where the direction of the change is
uncertain, it begins at 0.

Every untouched image counts once. If two runs score one image differently, the pictures differed (another size, another
crop) and count as two; a difference in the sixth digit only means another device.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from convergebench.analysis.audit.audit_data import AuditData, table
from convergebench.analysis.audit.clusters import last_gaps, number
from convergebench.analysis.audit.jackknife import absolute, jackknife
from convergebench.analysis.bootstrap import Interval
from convergebench.analysis.trajectories import Floats

ENOUGH_CLEAN = 3
"""Fewest untouched images for a spread."""
SAME_DIGITS = 5


def clean_scores(data: AuditData) -> pl.DataFrame:
    """`metric`, `source`, `raw` and `scaled` of the untouched images, each once."""
    sources = data.chains.select("chain", "source")
    untouched = data.scores.filter(pl.col("at") == 0, pl.col("raw").is_not_null())
    return (
        untouched.join(sources, on="chain")
        .select("metric", "source", "raw", "scaled")
        .sort("metric", "source", "raw")
        .with_columns(pl.col("raw").round_sig_figs(SAME_DIGITS).alias("about"))
        .unique(["metric", "source", "about"], keep="first", maintain_order=True)
        .drop("about")
    )


def confound_table(data: AuditData, gaps: pl.DataFrame, clean: pl.DataFrame) -> pl.DataFrame:
    """The frame `confound`: one row per metric that was audited."""
    last = last_gaps(gaps)
    return table("confound", [_row(name, last.filter(metric=name), clean, data) for name in data.scales])


def _row(name: str, last: pl.DataFrame, clean: pl.DataFrame, data: AuditData) -> dict[str, object]:
    own = clean.filter(pl.col("metric") == name).sort("scaled", "source")
    enough, mean_gap = own.height >= ENOUGH_CLEAN, last["gap"].mean()
    row: dict[str, object] = {
        **{"metric": name, "n_clean": own.height, "n_cells": last.height, "mean_gap": mean_gap},
        "at": last["at"].max(),
        "spread": own["scaled"].std(ddof=1) if enough else None,
    }
    if own.height:
        row |= {"smallest": own["scaled"][0], "largest": own["scaled"][-1]}
        row |= {"smallest_source": own["source"][0], "largest_source": own["source"][-1]}
    if enough and mean_gap is not None:
        band = damage_over_content(last, own, data.settings.confidence)
        row |= {"ratio": number(band.estimate[0]), "low": number(band.low[0]), "high": number(band.high[0])}
    return row


def damage_over_content(last: pl.DataFrame, clean: pl.DataFrame, confidence: float) -> Interval:
    """|mean gap| over spread with its interval; `last` has `source` and `gap`, `clean` has `source` and `scaled`."""
    # sums of squares lose digits far from 0
    away = pl.col("scaled") - clean["scaled"].mean()
    gaps = last.group_by("source").agg(pl.col("gap").sum().alias("gap"), pl.len().alias("cells"))
    images = clean.group_by("source").agg(
        away.sum().alias("sum"), (away**2).sum().alias("squares"), pl.len().alias("images")
    )
    joined = gaps.join(images, on="source", how="full", coalesce=True).sort("source").fill_null(0)
    features = joined.select(pl.col("gap", "sum", "squares", "images", "cells").cast(pl.Float64)).to_numpy()
    return absolute(jackknife(features, _effect, confidence))


def _effect(totals: Floats) -> Floats:
    """Mean gap over spread, signed, from sums over images."""
    gap, total, squares, images, cells = np.moveaxis(np.asarray(totals), -1, 0)
    mean = np.divide(gap, cells, out=np.full_like(gap, np.nan), where=cells > 0)
    around = squares - np.divide(total**2, images, out=np.zeros_like(total), where=images > 0)
    variance = np.divide(around, images - 1, out=np.full_like(gap, np.nan), where=images > 1)
    # where all images score the same, rounding leaves a tiny variance
    spread = np.sqrt(np.where(variance > 1e-12 * np.maximum(1.0, squares), variance, np.nan))
    return np.asarray(mean / spread)
