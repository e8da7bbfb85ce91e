"""Mean ratings per method, how often each value was given, and paired differences of methods."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from convergebench.analysis.permutation import holm
from convergebench.analysis.ratings.result import frame
from convergebench.analysis.ratings.scales import SCALES, RatingScale
from convergebench.analysis.ratings.two_way import TwoWayEstimate, cells, two_way_mean

ENOUGH = 0.5
"""Share of the items of the method with most that a method needs to be ranked: one that has only just been begun would
leave nothing for the others to be compared on."""


def means_table(kept: pl.DataFrame, every: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """The frame `rating_means` of first showings: of the raters that count, and of all, flagged ones included."""
    rows: list[dict[str, Any]] = []
    for question, scale in SCALES.items():
        own = kept.filter(question=question)
        ranked = _ranked(own)
        common = common_items(own, ranked)
        for editor in own["editor"].unique().sort():
            part = own.filter(editor=editor)
            part = part.join(common, on="item", how="semi") if common.height and editor in ranked else part
            found = _mean(part, confidence, scale)
            with_all = every.filter(question=question, editor=editor).join(part, on="item", how="semi")
            mine = with_all.join(part, on=["rater", "item"], how="anti")
            rows.append(
                {
                    **{
                        "question": question,
                        "editor": editor,
                        "mean": found.value,
                        "low": found.low,
                        "high": found.high,
                    },
                    **{"n_ratings": part.height, "n_raters": found.n_raters, "n_sources": found.n_sources},
                    **{"n_left_out": mine.height, "mean_all": _mean(with_all, confidence, scale).value},
                    "distance": _mean(_distances(part), confidence, scale).value if scale.zero_is_best else None,
                    "_ranked": editor in ranked and common.height > 0,
                }
            )
    return frame("rating_means", _placed(rows))


def distribution_table(kept: pl.DataFrame) -> pl.DataFrame:
    """The frame `rating_distribution`: every whole number of the scale, and other values that were given."""
    rows = []
    for question, scale in SCALES.items():
        own = kept.filter(question=question)
        for editor in own["editor"].unique().sort():
            values = own.filter(editor=editor)["value"]
            for value in sorted({*map(float, scale.values), *values.to_list()}):
                n = int((values == value).sum())
                rows.append({"question": question, "editor": editor, "value": value, "n": n, "share": n / values.len()})
    return frame("rating_distribution", rows)


def contrast_rows(kept: pl.DataFrame, confidence: float) -> list[dict[str, Any]]:
    """Rows of `rating_contrasts`: every two methods where the same rater rated both on the same item."""
    rows: list[dict[str, Any]] = []
    for question, scale in SCALES.items():
        own = kept.filter(question=question)
        own = _distances(own) if scale.zero_is_best else own
        found = []
        for one, other in combinations(own["editor"].unique().sort(), 2):
            both = own.filter(editor=one).join(
                own.filter(editor=other), on=["rater", "source", "item"], suffix="_other"
            )
            apart = (both["value"] - both["value_other"]).to_numpy() * (-1.0 if scale.zero_is_best else 1.0)
            table = cells(apart, both["rater"].to_list(), both["source"].to_list())
            result = two_way_mean(table, confidence, bounds=(-scale.room, scale.room))
            if result.value is not None:
                found.append(contrast(question, one, other, result))
        rows += corrected(found, confidence)
    return rows


def contrast(question: str, one: str, other: str, found: TwoWayEstimate) -> dict[str, Any]:
    """A row for the difference one − other (more is better), turned so that the better one comes first."""
    value = found.value or 0.0
    ends = (found.low, found.high)
    if value < 0:
        one, other, value = other, one, -value
        ends = (None, None) if found.low is None or found.high is None else (-found.high, -found.low)
    return {
        **{"question": question, "better": one, "worse": other, "difference": value, "low": ends[0], "high": ends[1]},
        **{"p": found.p, "n_sources": found.n_sources},
    }


def corrected(rows: list[dict[str, Any]], confidence: float) -> list[dict[str, Any]]:
    """With Holm's correction over the rows that have a test."""
    tested = [row for row in rows if row["p"] is not None]
    for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
        row |= {"p_holm": p, "significant": p < 1 - confidence}
    return [{"significant": False, **row} for row in rows]


def common_items(own: pl.DataFrame, ranked: list[str]) -> pl.DataFrame:
    """The items that all of these methods were rated on."""
    every = own.filter(pl.col("editor").is_in(ranked)).group_by("item").agg(pl.col("editor").n_unique())
    return every.filter(pl.col("editor") == len(ranked)).select("item") if ranked else every.select("item").clear()


def _ranked(own: pl.DataFrame) -> list[str]:
    counts = own.group_by("editor").agg(pl.col("item").n_unique().alias("items"))
    most = max(counts["items"].to_list(), default=0)
    return sorted(counts.filter(pl.col("items") >= ENOUGH * most)["editor"])


def _mean(part: pl.DataFrame, confidence: float, scale: RatingScale) -> TwoWayEstimate:
    table = cells(part["value"].to_numpy().astype(np.float64), part["rater"].to_list(), part["source"].to_list())
    return two_way_mean(table, confidence, bounds=(scale.low, scale.high))


def _distances(part: pl.DataFrame) -> pl.DataFrame:
    return part.with_columns(pl.col("value").abs())


def _placed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With ranks within each question, best first; equal means share a rank, methods without one come last."""
    found: list[dict[str, Any]] = []
    for question, scale in SCALES.items():
        own = [row for row in rows if row["question"] == question]
        worth = {row["editor"]: round(-row["distance"] if scale.zero_is_best else row["mean"], 9) for row in own}
        ranked = [worth[row["editor"]] for row in own if row["_ranked"]]
        for row in own:
            row["rank"] = 1 + sum(other > worth[row["editor"]] for other in ranked) if row["_ranked"] else None
        found += sorted(
            own, key=lambda row: (row["rank"] is None, row["rank"] or 0, -worth[row["editor"]], row["editor"])
        )
    return found
