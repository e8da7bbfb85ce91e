"""How adding objects changes a score: a metric that moves when an apple is added rates the apple.

`additions` build on each other: the change is from each step to the next. `additions-apart` all start from the
untouched picture: the change is against that. The mean change includes the constant wear of one edit; the standard
deviation does not. For comparison there is the drop by damage alone, from copies of the same editor at its last gap,
or from all editors if it has none.
"""

from __future__ import annotations

import polars as pl

from convergebench.analysis.audit.audit_data import ADDITIONS, ALL, APART, AuditData, table
from convergebench.analysis.audit.clusters import last_gaps, means, with_all

_GROUP = ["metric", "editor", "pair", "role"]


def content_table(data: AuditData, gaps: pl.DataFrame) -> pl.DataFrame:
    """The frame `content`: per metric, editor, pair and role."""
    changes = pl.concat([_step_changes(data), _changes_apart(data)]).filter(pl.col("change").is_not_null())
    names = data.chains.select("chain", "cell", "editor", "source", "pair", "role")
    changes = changes.join(names, on="chain", maintain_order="left").with_columns(pl.col("metric").cast(pl.String))
    largest = pl.col("change").get(pl.col("change").abs().arg_max())
    spread = changes.group_by(_GROUP).agg(
        pl.col("change").std(ddof=1).alias("jumpiness"), largest.alias("largest"), pl.col("cell").n_unique()
    )
    known = {tuple(row[name] for name in _GROUP): row for row in spread.iter_rows(named=True)}
    drops = _drops(gaps)
    rows = []
    for row in means(changes, _GROUP, "change", data.bootstrap):
        own = known[tuple(row[name] for name in _GROUP)]
        drop = drops.get((row["metric"], row["editor"]), drops.get((row["metric"], ALL)))
        ratio = own["jumpiness"] / abs(drop) if own["jumpiness"] is not None and drop else None
        rows.append({**row, **own, "shift": row["mean"], "n_cells": own["cell"], "drop": drop, "ratio": ratio})
    place = {name: position for position, name in enumerate(data.scales)}
    rows.sort(key=lambda row: (place[row["metric"]], row["editor"], row["role"], row["pair"] or ""))
    return table("content", rows)


def _step_changes(data: AuditData) -> pl.DataFrame:
    """Changes from one step to the next; the untouched picture is a step only if it is the baseline."""
    steps = data.of(ADDITIONS).filter(pl.col("at") >= min(1, data.settings.baseline))
    steps = steps.sort("chain", "metric", "at")
    within = ["chain", "metric"]
    follows = pl.col("at") - pl.col("at").shift(1).over(within) == 1
    change = pl.col("scaled") - pl.col("scaled").shift(1).over(within)
    return steps.select("chain", "metric", pl.when(follows).then(change).alias("change"))


def _changes_apart(data: AuditData) -> pl.DataFrame:
    """Changes against the untouched picture of the same chain."""
    scores = data.of(APART)
    before = scores.filter(at=0).select("chain", "metric", pl.col("scaled").alias("before"))
    touched = scores.filter(pl.col("at") > 0).join(before, on=["chain", "metric"], how="left", maintain_order="left")
    return touched.select("chain", "metric", (pl.col("scaled") - pl.col("before")).alias("change"))


def _drops(gaps: pl.DataFrame) -> dict[tuple[str, str], float]:
    found = last_gaps(with_all(gaps), "metric", "editor").group_by("metric", "editor").agg(pl.col("gap").mean())
    return {(metric, editor): gap for metric, editor, gap in found.iter_rows()}
