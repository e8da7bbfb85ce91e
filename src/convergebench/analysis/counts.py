"""Counts for reports: cases behind a ranking, missing values, costs, unfinished chains, moved pictures."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl


class RankingCounts(NamedTuple):
    """What a ranking rests on: its ranked rows, or all rows where no editor is ranked."""

    ranked: int
    cases: int
    sources: int
    left_out: int
    missing: int
    lost: int
    censored: bool
    """Some half-life was not reached."""
    intervals: bool
    """Some score has an interval."""


def ranking_counts(ranking: pl.DataFrame) -> RankingCounts:
    """The counts of a ranking table."""
    own = ranking.filter(pl.col("rank").is_not_null())
    basis = own if own.height else ranking
    cases, sources = (int(basis[name].max() or 0) for name in ("n_cases", "n_sources"))  # type: ignore[arg-type]
    left_out, missing, lost = (int(basis[name].sum() or 0) for name in ("n_left_out", "n_missing", "n_lost"))
    censored = bool(ranking["half_life"].str.starts_with(">").any())
    intervals = bool(ranking["low"].is_not_null().any())
    return RankingCounts(own.height, cases, sources, left_out, missing, lost, censored, intervals)


def missing_reasons(measurements: pl.DataFrame) -> list[tuple[str, int]]:
    """(status, how many) of the rows without a value, most frequent first."""
    if measurements.height == 0:
        return []
    counted = measurements.filter(pl.col("value").is_null()).group_by("status").len().sort("len", "status")
    return [(str(status), int(amount)) for status, amount in counted.rows()[::-1]]


def costs(outcomes: pl.DataFrame, spending: pl.DataFrame) -> pl.DataFrame:
    """Per editor: steps, seconds, dollars and the cost per step; null without steps.

    Dollars come from `spending` where it has them: chains do not include the cost of failed steps.
    """
    found = outcomes.group_by("editor", maintain_order=True).agg(
        pl.col("steps").sum(), pl.col("seconds").sum(), pl.col("dollars").sum()
    )
    if spending.height:
        spent = spending.select("editor", pl.col("dollars").alias("spent"))
        found = found.join(spent, on="editor", how="left", maintain_order="left")
        found = found.with_columns(pl.coalesce("spent", "dollars").alias("dollars")).drop("spent")
    steps = pl.when(pl.col("steps") > 0).then(pl.col("steps"))
    return found.with_columns(
        (pl.col("seconds") / steps).alias("seconds_a_step"), (pl.col("dollars") / steps).alias("dollars_a_step")
    )


def unfinished(chains: pl.DataFrame, most: int = 20) -> list[tuple[str, str, str, int]]:
    """(editor, status, reason, chains) of the chains that did not finish, most frequent first."""
    if chains.height == 0:
        return []
    reason = pl.when(pl.col("detail").fill_null("") == "").then(pl.lit("no reason given")).otherwise(pl.col("detail"))
    counted = (
        chains.filter(pl.col("status") != "finished")
        .group_by("editor", "status", reason.alias("detail"), maintain_order=True)
        .len()
        .sort("len", descending=True, maintain_order=True)
    )
    return [(editor, status, why, int(amount)) for editor, status, why, amount in counted.head(most).rows()]


class MovedPictures(NamedTuple):
    """Pictures that had to be moved or resized before they could be compared."""

    registered: int
    resampled: int
    pictures: int
    least_in_view: float | None
    """The smallest share of a source that a registered picture shows."""


def moved_pictures(measurements: pl.DataFrame) -> MovedPictures:
    """Counted over the pictures that are compared with their source."""
    if not measurements.height:
        return MovedPictures(0, 0, 0, None)
    compared = measurements.filter(pl.col("role").is_in(["return", "around"]) & (pl.col("align") != "none"))
    picture, detail = ["editor", "case", "step"], pl.col("detail")
    moved = (compared.filter(detail.str.starts_with(f"{how}:")) for how in ("registered", "resampled"))
    registered, resampled = (part.select(picture).n_unique() for part in moved)
    crop = compared["detail"].str.extract(r"^registered:.* crop ([-+.e\d]+)", 1).cast(pl.Float64).max()
    least = None if crop is None else 1 - float(crop)  # type: ignore[arg-type]
    return MovedPictures(registered, resampled, compared.select(picture).n_unique(), least)
