"""How far raters agree: Krippendorff's α with intervals over pictures and raters.

Within pictures: every rater's answers about one item are taken relative to their mean, so that neither hard pictures
nor strict raters count, only which method is better by how much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy.special import stdtrit

from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.analysis.krippendorff import krippendorff_alpha, ordinal_alpha
from convergebench.analysis.ratings.answers import PeopleAnswers
from convergebench.analysis.ratings.result import frame
from convergebench.analysis.ratings.scales import PREFERENCE, SCALES
from convergebench.analysis.ratings.two_way import FEWEST_RATERS, cells, numbered, two_way_mean
from convergebench.analysis.trajectories import Floats

INTERVAL_ALPHA, ORDINAL_ALPHA = "krippendorff alpha", "ordinal alpha"
WITHIN, WITH_FLAGGED, LEFT = "within-picture alpha", "alpha with flagged raters", "left preferred"

Measure = Callable[[Floats], float | None]


def agreement_table(kept: PeopleAnswers, every: PeopleAnswers, confidence: float) -> pl.DataFrame:
    """The frame `rating_agreement` of first showings: of the raters that count, and of all, flagged ones included."""
    rows: list[dict[str, Any]] = []
    for question in (*SCALES, PREFERENCE):
        own, both = (_units(answers, question) for answers in (kept, every))
        if not own.height:
            continue
        measures: list[tuple[str, pl.DataFrame, Measure]] = [(INTERVAL_ALPHA, own, krippendorff_alpha)]
        if question != PREFERENCE:
            measures += [(ORDINAL_ALPHA, own, ordinal_alpha), (WITHIN, _within(own), krippendorff_alpha)]
        if both["rater"].n_unique() > own["rater"].n_unique():
            measures.append((WITH_FLAGGED, both, krippendorff_alpha))
        rows += [{"question": question, "measure": name, **_alpha(part, of, confidence)} for name, part, of in measures]
    return frame("rating_agreement", [*rows, *_left(kept.pairs, confidence)])


def alpha_interval(
    ratings: Floats, sources: Sequence[str], measure: Measure, confidence: float
) -> tuple[float, float] | None:
    """The interval of a measure of raters × units: each picture and each rater is left out once.

    On the scale log(1 − α), on which the error depends less on α, with Satterthwaite's degrees of freedom, and around
    the value without the jackknife's bias: with few pictures α comes out too low, because answers about one picture
    resemble each other. None with fewer than five pictures or three raters.
    """
    names, place = numbered(sources)
    raters = np.arange(ratings.shape[0])
    whole = measure(ratings)
    if whole is None or len(names) < FEWEST_SOURCES or raters.size < FEWEST_RATERS:
        return None
    if whole > 1 - 1e-12:
        return whole, whole
    found = [
        _left_out(whole, part)
        for part in (
            [measure(ratings[:, place != gone]) for gone in range(len(names))],
            [measure(ratings[raters != gone]) for gone in raters],
        )
    ]
    known = [one for one in found if one is not None]
    if len(known) < 2:
        return None
    total = sum(variance for _, variance, _ in known)
    uncertain = sum(variance**2 / size for _, variance, size in known)
    degrees = total**2 / uncertain if uncertain else 1.0
    reach = float(stdtrit(degrees, 0.5 + confidence / 2)) * total**0.5
    centre = np.log(1 - whole) - sum(bias for bias, _, _ in known)
    ends = 1 - float(np.exp(centre + reach)), 1 - float(np.exp(centre - reach))
    return min(ends[0], whole), max(ends[1], whole)


def _left_out(whole: float, values: Sequence[float | None]) -> tuple[float, float, int] | None:
    """The jackknife's bias and variance of log(1 − value), and its degrees of freedom; None where one is missing."""
    if any(value is None for value in values):
        return None
    scaled = np.log(np.maximum(1e-12, 1 - np.array(values, dtype=np.float64)))
    rest = scaled.size - 1
    bias = rest * float(scaled.mean() - np.log(1 - whole))
    return bias, rest / scaled.size * float(((scaled - scaled.mean()) ** 2).sum()), rest


def oriented(pairs: pl.DataFrame) -> pl.DataFrame:
    """Pairs as units that do not depend on the side: the value is that of the first name."""
    swapped = pl.col("left") > pl.col("right")
    first, second = (pl.min_horizontal("left", "right"), pl.max_horizontal("left", "right"))
    return pairs.with_columns(
        pl.concat_str([pl.col("item"), first, second], separator="\n").alias("unit"),
        pl.when(swapped).then(1 - pl.col("value")).otherwise("value").alias("value"),
    )


def _units(answers: PeopleAnswers, question: str) -> pl.DataFrame:
    """rater, source, item, editor (scores alone), unit, value."""
    if question == PREFERENCE:
        return oriented(answers.pairs)
    own = answers.scores.filter(question=question)
    return own.with_columns(pl.concat_str(["item", "editor"], separator="\n").alias("unit"))


def _within(own: pl.DataFrame) -> pl.DataFrame:
    """Relative to the rater's mean of the item, where the rater rated every method that was rated there."""
    methods = own.group_by("item").agg(pl.col("editor").n_unique().alias("methods"))
    cell = ["rater", "item"]
    whole = own.join(methods, on="item").filter(pl.len().over(cell) == pl.col("methods"), pl.col("methods") > 1)
    return whole.with_columns(pl.col("value") - pl.col("value").mean().over(cell))


def _alpha(part: pl.DataFrame, measure: Measure, confidence: float) -> dict[str, Any]:
    shared = part.filter(pl.col("rater").n_unique().over("unit") > 1)
    sources = shared.unique("unit", keep="first", maintain_order=True)["source"].to_list()  # as `cells` numbers units
    counts = {"n_raters": shared["rater"].n_unique(), "n_items": len(sources), "n_sources": len(set(sources))}
    if not sources:
        return {**counts, "note": "no two raters answered about the same picture"}
    table = cells(shared["value"].to_numpy().astype(np.float64), shared["rater"].to_list(), shared["unit"].to_list())
    value = measure(table)
    if value is None:
        return {**counts, "note": "all answers are the same, so agreement beyond chance is not defined"}
    ends = alpha_interval(table, sources, measure, confidence)
    low, high = ends or (None, None)
    return {**counts, "value": value, "low": low, "high": high}


def _left(pairs: pl.DataFrame, confidence: float) -> list[dict[str, Any]]:
    if not pairs.height:
        return []
    table = cells(pairs["value"].to_numpy(), pairs["rater"].to_list(), pairs["source"].to_list())
    found = two_way_mean(table, confidence, bounds=(0, 1))
    chance = found.low is not None and found.high is not None and not found.low <= 0.5 <= found.high
    return [
        {
            **{"question": PREFERENCE, "measure": LEFT, "value": found.value, "low": found.low, "high": found.high},
            **{"n_raters": found.n_raters, "n_items": pairs.height, "n_sources": found.n_sources},
            "note": "the side matters; 0.5 is none" if chance else "0.5 is no preference for a side",
        }
    ]
