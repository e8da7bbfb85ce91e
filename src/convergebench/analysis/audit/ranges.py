"""Scores outside the range that a metric is said to have, and the outermost ones with the picture they belong to."""

from __future__ import annotations

import polars as pl

from convergebench.analysis.audit.confound import SAME_DIGITS
from convergebench.analysis.audit.material import Material, table


def range_table(material: Material) -> pl.DataFrame:
    """The frame `ranges`: every scored picture counts once, an untouched image once however many chains begin at it."""
    touched = material.scores.filter(pl.col("at") > 0, pl.col("raw").is_not_null())
    untouched = (
        material.scores.filter(pl.col("at") == 0, pl.col("raw").is_not_null())
        .join(material.chains.select("chain", "source"), on="chain", maintain_order="left")
        .with_columns(pl.col("raw").round_sig_figs(SAME_DIGITS).alias("about"))
        .unique(["metric", "source", "about"], keep="first", maintain_order=True)
        .drop("source", "about")
    )
    scores = pl.concat([untouched, touched])
    return table("ranges", [_row(name, scores.filter(pl.col("metric") == name), material) for name in material.scales])


def _row(name: str, own: pl.DataFrame, material: Material) -> dict[str, object]:
    scale, raw = material.scales[name], own["raw"]
    row: dict[str, object] = {
        **{"metric": name, "range_low": scale.low, "range_high": scale.high, "n": own.height},
        **{"below": int((raw < scale.low).sum()), "above": int((raw > scale.high).sum())},
    }
    if own.height:
        lowest, highest = raw.arg_min(), raw.arg_max()
        row |= {"smallest": raw.min(), "largest": raw.max()}
        row |= {
            "smallest_where": _where(own, lowest or 0, material),
            "largest_where": _where(own, highest or 0, material),
        }
    return row


def _where(own: pl.DataFrame, position: int, material: Material) -> str:
    """Run, editor, case and step of a picture in one line."""
    picture = own.row(position, named=True)
    chain = material.chains.row(by_predicate=pl.col("chain") == picture["chain"], named=True)
    if picture["at"] == 0:
        return f"{chain['run']} · {chain['source']}, untouched"
    return f"{chain['run']} · {chain['editor']} · {chain['case']} · {material.settings.by} {picture['at']}"
