"""The result of the analysis part `ratings`. The columns declared here are the contract with the report.

`question` is `score` (0–5), `preference`, `overall` and `semantics` (0–4), `detail` and `sharpness` (−3…+3, 0 is best).
Attention items and second showings count for rater quality only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from convergebench.analysis.schemas import INTERVAL, AnalysisTables, B, F, N, T, clean

SCHEMAS: dict[str, dict[str, type[pl.DataType]]] = {
    "rating_means": {
        **{"question": T, "editor": T, "mean": F, **INTERVAL, "n_ratings": N, "n_raters": N, "n_sources": N},
        **{"n_left_out": N, "rank": N, "distance": F, "mean_all": F},
    },
    "rating_distribution": {"question": T, "editor": T, "value": F, "n": N, "share": F},
    "rating_contrasts": {
        **{"question": T, "better": T, "worse": T, "difference": F, **INTERVAL, "p": F, "p_holm": F},
        **{"significant": B, "n_sources": N},
    },
    "rating_agreement": {
        **{"question": T, "measure": T, "value": F, **INTERVAL, "n_raters": N, "n_items": N, "n_sources": N, "note": T},
    },
    "preferences": {
        **{"editor": T, "strength": F, **INTERVAL, "wins": F, "losses": F, "ties": N, "n": N, "rank": N, "note": T},
    },
    "preference_pairs": {"editor": T, "other": T, "wins": F, "losses": F, "ties": N, "n": N, "expected": F},
    "raters": {
        **{"rater": T, "n": N, "attention": N, "attention_failed": N, "repeats": N, "repeat_difference": F},
        **{"bias": F, "spread": F, "agreement": F, "left_side": F, "seconds": F, "same_answer": F, "flagged": B},
        **{"why": T},
    },
}
"""The columns of every frame."""

Rows = Sequence[Mapping[str, object]]


def frame(name: str, rows: Rows) -> pl.DataFrame:
    """The frame `name` from row mappings; columns that a row lacks are null, NaN becomes null."""
    columns = SCHEMAS[name]
    return clean(pl.DataFrame([{key: row.get(key) for key in columns} for row in rows], schema=columns))


@dataclass(frozen=True, slots=True)
class RatingsAnalysis(AnalysisTables):
    """The result of the analysis part `ratings`."""

    headline: tuple[str, ...]
    """Plain sentences with number and uncertainty, the most important first; empty without ratings."""
    rating_means: pl.DataFrame
    """Mean per method and question over the pictures that every method was rated on; intervals over pictures and
    raters together. n_left_out: ratings of flagged raters, which do not count; mean_all: the mean with them. distance:
    mean distance from 0, by which questions are ranked whose best answer is 0."""
    rating_distribution: pl.DataFrame
    """How often each value was given."""
    rating_contrasts: pl.DataFrame
    """Paired differences of two methods on the same pictures by the same raters: of means, of distances from 0 where 0
    is best (the worse minus the better), of Bradley–Terry strengths for preferences. Holm over the pairs of a
    question."""
    rating_agreement: pl.DataFrame
    """Krippendorff's α per question (interval and ordinal) over all pictures, within pictures (differences of methods
    only) and with the flagged raters; and the share of pairs in which the left picture was preferred."""
    preferences: pl.DataFrame
    """Bradley–Terry strengths (log odds, mean 0; ties are half a win each)."""
    preference_pairs: pl.DataFrame
    """Wins of each method against each other, and what the model expects."""
    raters: pl.DataFrame
    """Quality of every rater: attention items failed, difference between first and second answers, bias (mean distance
    from the others), spread of the answers, agreement (correlation with the mean of the others), share of left answers
    in pairs, median seconds an answer, share of the commonest answer; flagged raters are left out of the rest.
    Differences, bias and spread are shares of the scale."""
