"""Scores outside the stated range of a metric, and the smallest and largest ones with their pictures."""

from __future__ import annotations

import polars as pl

from convergebench.analysis.audit.audit_data import AuditData, table
from convergebench.analysis.audit.confound import SAME_DIGITS


def range_table(data: AuditData) -> pl.DataFrame:
    """The frame `ranges`: every scored picture counts once, an untouched image once for all its chains."""
    touched = data.scores.filter(pl.col("at") > 0, pl.col("raw").is_not_null())
    untouched = (
        data.scores.filter(pl.col("at") == 0, pl.col("raw").is_not_null())
        .join(data.chains.select("chain", "source"), on="chain", maintain_order="left")
        .with_columns(pl.col("raw").round_sig_figs(SAME_DIGITS).alias("about"))
        .unique(["metric", "source", "about"], keep="first", maintain_order=True)
        .drop("source", "about")
    )
    scores = pl.concat([untouched, touched])
    return table("ranges", [_row(name, scores.filter(pl.col("metric") == name), data) for name in data.scales])


def _row(name: str, own: pl.DataFrame, data: AuditData) -> dict[str, object]:
    scale, raw = data.scales[name], own["raw"]
    row: dict[str, object] = {
        **{"metric": name, "range_low": scale.low, "range_high": scale.high, "n": own.height},
        **{"below": int((raw < scale.low).sum()), "above": int((raw > scale.high).sum())},
    }
    if own.height:
        row |= {"smallest": raw.min(), "smallest_where": _where(own, raw.arg_min() or 0, data)}
        row |= {"largest": raw.max(), "largest_where": _where(own, raw.arg_max() or 0, data)}
    return row


def _where(own: pl.DataFrame, position: int, data: AuditData) -> str:
    """Run, editor, case and step of a picture in one line."""
    picture = own.row(position, named=True)
    chain = data.chains.row(by_predicate=pl.col("chain") == picture["chain"], named=True)
    if picture["at"] == 0:
        return f"{chain['run']} · {chain['source']}, untouched"
    return f"{chain['run']} · {chain['editor']} · {chain['case']} · {data.settings.by} {picture['at']}"
