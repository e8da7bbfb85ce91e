"""Means with intervals over source images: rows of one image are alike and are resampled together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from convergebench.analysis.audit.audit_data import ALL
from convergebench.analysis.bootstrap import Bootstrap


def means(frame: pl.DataFrame, by: Sequence[str], value: str, bootstrap: Bootstrap) -> list[dict[str, Any]]:
    """Per group of `by`: `mean` of a column with `low` and `high`, `n` values and `n_sources`; needs `source`."""
    known = frame.filter(pl.col(value).is_not_null())
    sums = known.group_by(*by, "source").agg(pl.col(value).sum().alias("_sum"), pl.len().alias("_count"))
    rows = []
    for key, part in sums.sort(*by, "source").group_by(*by, maintain_order=True):
        counts = part.select(pl.col("_count").cast(pl.Float64)).to_numpy()
        band = bootstrap.ratio(part.select("_sum").to_numpy().astype(np.float64), counts)
        rows.append(
            {
                **dict(zip(by, key, strict=True)),
                **{"mean": number(band.estimate[0]), "low": number(band.low[0]), "high": number(band.high[0])},
                **{"n": int(counts.sum()), "n_sources": part.height},
            }
        )
    return rows


def with_all(frame: pl.DataFrame) -> pl.DataFrame:
    """Every row twice: under its editor, and under `all`."""
    return pl.concat([frame.with_columns(pl.lit(ALL).alias("editor")), frame])


def number(value: float) -> float | None:
    """A Python float, None for NaN and infinity."""
    return float(value) if np.isfinite(value) else None


def last_gaps(gaps: pl.DataFrame, *by: str) -> pl.DataFrame:
    """The rows of `gaps` at the last step at which their metric (or the group `by`) has a gap."""
    known = gaps.filter(pl.col("gap").is_not_null())
    return known.filter(pl.col("at") == pl.col("at").max().over(by or "metric"))
