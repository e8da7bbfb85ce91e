"""Which of two metrics fails less often: paired on the same pictures, tested over source images, Holm over all pairs.

Under the null hypothesis two metrics are exchangeable on every image, so swapping their failures on any set of images
is as likely as the observation. With fewer than six images no outcome of such a test is significant.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from convergebench.analysis.audit.audit_data import CELL, AuditData, table
from convergebench.analysis.permutation import holm, swap_test
from convergebench.analysis.trajectories import Floats


def pair_table(cells: pl.DataFrame, data: AuditData) -> pl.DataFrame:
    """The frame `pairs` from the `cells` of `cell_states`. The metric that fails less often comes first."""
    known = cells.filter(~pl.col("unknown")).select("metric", *CELL, pl.col("failed").cast(pl.Float64))
    own = {name: known.filter(metric=name).drop("metric") for name in data.scales}
    rows = [row for one, other in combinations(own, 2) if (row := _pair(one, other, own, data)) is not None]
    adjusted = holm([float(str(row["p"])) for row in rows])
    limit = 1 - data.settings.confidence
    return table("pairs", [row | {"p_holm": p, "told": p < limit} for row, p in zip(rows, adjusted, strict=True)])


def _pair(one: str, other: str, own: dict[str, pl.DataFrame], data: AuditData) -> dict[str, object] | None:
    both = own[one].join(own[other], on=CELL, suffix="_other", nulls_equal=True)
    if not both.height:
        return None
    sums = both.group_by("source").agg(pl.col("failed", "failed_other").sum(), pl.len().alias("cells")).sort("source")
    first, second, counts = (sums[name].cast(pl.Float64).to_numpy() for name in ("failed", "failed_other", "cells"))
    test = swap_test(
        np.column_stack([first, counts]), np.column_stack([second, counts]), _share, seed=data.settings.seed
    )
    shares = first.sum() / counts.sum(), second.sum() / counts.sum()
    fewer, more = (one, other) if shares[0] <= shares[1] else (other, one)
    return {
        **{"fewer": fewer, "more": more, "difference": float(abs(shares[1] - shares[0])), "p": test.p},
        **{"n_cells": int(counts.sum()), "n_sources": sums.height},
    }


def _share(totals: Floats) -> Floats:
    return np.asarray(totals[..., 0] / totals[..., 1])
