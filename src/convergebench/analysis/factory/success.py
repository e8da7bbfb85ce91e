"""How often edits succeed, by type and category, per edit and per attempt.

The paper prints rates without saying whether they are per attempt or per (image, instruction), so both are given. Hard
edits are tried more often, which pulls the rate per attempt down; the rate of first attempts has no such weight.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.paper import paper_rates
from convergebench.analysis.factory.result import frame
from convergebench.analysis.factory.shares import share_of

ALL = "all"


def edit_verdicts(edits: pl.DataFrame) -> pl.DataFrame:
    """Edits with `hit`: accepted or not; null where there is no verdict.

    An attempt that was delivered and not judged could have been a success, so a discarded edit with one has none.
    """
    discarded = (pl.col("outcome") == "discarded") & (pl.col("judged") == pl.col("delivered"))
    hit = pl.when(pl.col("outcome") == "accepted").then(True).when(discarded & (pl.col("attempts") > 0)).then(False)
    return edits.with_columns(hit.alias("hit"))


def attempt_verdicts(attempts: pl.DataFrame) -> pl.DataFrame:
    """Attempts with `hit`; null where the judge's reply could not be parsed. A refusal is a failure."""
    told = pl.col("score").is_not_null() | pl.col("refused").is_not_null()
    return attempts.with_columns(pl.when(told).then(pl.col("accepted")).alias("hit"))


def success_table(edits: pl.DataFrame, attempts: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `success_by_type`."""
    tries = attempt_verdicts(attempts)
    units = {"edit": edit_verdicts(edits), "first-attempt": tries.filter(pl.col("attempt") == 1), "attempt": tries}
    rows: list[dict[str, object]] = []
    for editor in edits["editor"].unique().sort():
        for turns, chosen in (("first", pl.col("turn") == 1), (ALL, pl.lit(True))):
            for unit, verdicts in units.items():
                own = verdicts.filter(chosen, pl.col("editor") == editor)
                for group, part in _groups(own):
                    names = {"editor": editor, "turns": turns, "group": group, "unit": unit}
                    rows.append({**names, **_share(part, bootstrap), "paper": _paper(group)})
    return frame("success_by_type", rows)


def _groups(verdicts: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    yield ALL, verdicts
    for column, word in (("category", "category"), ("edit_type", "type")):
        for (name,), part in verdicts.sort(column).group_by(column, maintain_order=True):
            yield f"{word}:{name}", part


def _share(part: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, object]:
    known = part.drop_nulls("hit")
    found = share_of(known["hit"].to_list(), known["source"].to_list(), bootstrap)
    counts = {"n": known.height, "accepted": int(known["hit"].sum()), "n_missing": part.height - known.height}
    return {"share": found.value, "low": found.low, "high": found.high, "n_sources": found.n_sources, **counts}


def _paper(group: str) -> float | None:
    kind, _, name = group.partition(":")
    return paper_rates().get(name) if kind == "type" else None
