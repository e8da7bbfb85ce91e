"""Do people say the same of an edit that they are shown twice? What they do not, no judge can agree with."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from convergebench.studies.factory_table import CRITERIA


@dataclass(frozen=True, slots=True)
class RaterConsistency:
    """One person's first and second answer to the same questions about the same edits."""

    rater: str
    edits: int
    answers: int
    """Pairs of answers with a value in both."""
    same: float
    """Share of them that are equal."""
    difference: float
    """Mean absolute difference; the scale runs from 0 to 1."""


def own_consistency(ratings: pl.DataFrame) -> tuple[RaterConsistency, ...]:
    """Of every person who was shown an edit twice; of more than two answers the first two count."""
    keys = ["rater", "editor", "case", "step", "question"]
    twice = (
        ratings.filter(
            (pl.col("source") == "person") & pl.col("question").is_in(CRITERIA) & pl.col("value").is_not_null()
        )
        .sort("made")
        .group_by(keys, maintain_order=True)
        .agg(pl.col("value").head(2))
        .filter(pl.col("value").list.len() == 2)
        .with_columns((pl.col("value").list.first() - pl.col("value").list.last()).abs().alias("apart"))
    )
    found = []
    for (rater,), part in twice.sort("rater").group_by("rater", maintain_order=True):
        apart = part["apart"].to_list()
        same = sum(one < 1e-9 for one in apart) / len(apart)
        edits = part.select("editor", "case", "step").n_unique()
        found.append(RaterConsistency(str(rater), edits, len(apart), same, sum(apart) / len(apart)))
    return tuple(found)
