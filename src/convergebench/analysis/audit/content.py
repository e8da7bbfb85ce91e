"""What adding objects does to a score: a metric that moves when an apple is added is judging the apple.

Step upon step: the change from each step to the next. Apart (every addition to the untouched picture, so nothing piles
up): the change against the untouched picture. Their mean holds what one edit wears, the same every time; their standard
deviation does not. Beside them stands the drop that damage alone makes, from the copies of the same editor at its own
last gap or, if it has none, of all.
"""

from __future__ import annotations

import polars as pl

from convergebench.analysis.audit.clusters import last_gaps, means, with_all
from convergebench.analysis.audit.material import ADDITIONS, ALL, APART, Material, table

_GROUP = ["metric", "editor", "pair", "role"]


def content_table(material: Material, gaps: pl.DataFrame) -> pl.DataFrame:
    """The frame `content`: per metric, editor and way of adding."""
    changes = pl.concat([_upon(material), _apart(material)]).filter(pl.col("change").is_not_null())
    names = material.chains.select("chain", "cell", "editor", "source", "pair", "role")
    changes = changes.join(names, on="chain", maintain_order="left").with_columns(pl.col("metric").cast(pl.String))
    largest = pl.col("change").get(pl.col("change").abs().arg_max())
    spread = changes.group_by(_GROUP).agg(
        pl.col("change").std(ddof=1).alias("jumpiness"), largest.alias("largest"), pl.col("cell").n_unique()
    )
    known = {tuple(row[:4]): row[4:] for row in spread.select(*_GROUP, "jumpiness", "largest", "cell").iter_rows()}
    drops = _drops(gaps)
    rows = []
    for row in means(changes, _GROUP, "change", material.bootstrap):
        jumpiness, far, cells = known[tuple(row[name] for name in _GROUP)]
        drop = drops.get((row["metric"], row["editor"]), drops.get((row["metric"], ALL)))
        ratio = jumpiness / abs(drop) if jumpiness is not None and drop else None
        rows.append(
            {**row, "shift": row["mean"], "jumpiness": jumpiness, "largest": far, "n_cells": cells, "drop": drop}
            | {"ratio": ratio}
        )
    place = {name: position for position, name in enumerate(material.scales)}
    rows.sort(key=lambda row: (place[row["metric"]], row["editor"], row["role"], row["pair"] or ""))
    return table("content", rows)


def _upon(material: Material) -> pl.DataFrame:
    """From one step to the next; the untouched picture is none, unless it is the baseline."""
    steps = material.of(ADDITIONS).filter(pl.col("at") >= min(1, material.settings.baseline))
    steps = steps.sort("chain", "metric", "at")
    within = ["chain", "metric"]
    follows = pl.col("at") - pl.col("at").shift(1).over(within) == 1
    change = pl.col("scaled") - pl.col("scaled").shift(1).over(within)
    return steps.select("chain", "metric", pl.when(follows).then(change).alias("change"))


def _apart(material: Material) -> pl.DataFrame:
    """Against the untouched picture of the same chain."""
    scores = material.of(APART)
    before = scores.filter(at=0).select("chain", "metric", pl.col("scaled").alias("before"))
    touched = scores.filter(pl.col("at") > 0).join(before, on=["chain", "metric"], how="left", maintain_order="left")
    return touched.select("chain", "metric", (pl.col("scaled") - pl.col("before")).alias("change"))


def _drops(gaps: pl.DataFrame) -> dict[tuple[str, str], float]:
    found = last_gaps(with_all(gaps), "metric", "editor").group_by("metric", "editor").agg(pl.col("gap").mean())
    return {(metric, editor): gap for metric, editor, gap in found.iter_rows()}
