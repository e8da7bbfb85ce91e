"""What is known of every rater: attention, repeats, bias, spread, agreement with the others, sides, speed.

Values of different scales are taken as shares of their scale. Agreement is the correlation of a rater's answers with
the mean of the other raters who are trusted; the means of each question are removed, so that bias does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, sqrt, tanh

import numpy as np
import polars as pl

from convergebench.analysis.ratings.agreement import oriented
from convergebench.analysis.ratings.answers import PeopleAnswers
from convergebench.analysis.ratings.scales import PREFERENCE, SCALES


@dataclass(frozen=True, slots=True)
class RaterQuality:
    """The numbers of one rater; None where there is too little for one."""

    rater: str
    n: int
    attention: int
    attention_failed: int
    repeats: int
    repeat_difference: float | None
    unrelated_difference: float | None
    """What the repeat difference would be between the rater's answers about two different pictures."""
    bias: float | None
    spread: float | None
    agreement: float | None
    shared: int
    """Answers that others gave too."""
    left_side: float | None
    sided: int
    """Pairs that were no tie."""
    seconds: float | None
    same_answer: float | None

    def bound(self, quantile: float) -> float | None:
        """An end of the interval of the agreement, by Fisher's transform: `quantile` standard errors away."""
        if self.agreement is None or self.shared < 4:
            return None
        return tanh(atanh(max(-0.999999, min(0.999999, self.agreement))) + quantile / sqrt(self.shared - 3))


def rater_qualities(answers: PeopleAnswers, trusted: frozenset[str]) -> list[RaterQuality]:
    """Everybody, held against the raters in `trusted`; `answers` are those of all showings."""
    units = _units(answers)
    beside = _with_others(units.filter(showing=1), trusted)
    return [_quality(rater, answers, units.filter(rater=rater), beside.filter(rater=rater)) for rater in answers.raters]


def _units(answers: PeopleAnswers) -> pl.DataFrame:
    """rater, question, unit, showing, seconds, given (the answer as it was given), value (share of the scale)."""
    room = {question: float(scale.room) for question, scale in SCALES.items()} | {PREFERENCE: 1.0}
    low = {question: float(scale.low) for question, scale in SCALES.items()} | {PREFERENCE: 0.0}
    scores = answers.scores.with_columns(
        pl.concat_str(["question", "item", "editor"], separator="\n").alias("unit"), pl.col("value").alias("given")
    )
    pairs = oriented(answers.pairs.with_columns(pl.col("value").alias("given")))
    columns = ["rater", "question", "unit", "showing", "seconds", "given", "value"]
    both = pl.concat([scores.select(columns), pairs.select(columns)])
    start, size = (pl.col("question").replace_strict(of, return_dtype=pl.Float64) for of in (low, room))
    return both.with_columns((pl.col("value") - start) / size)


def _with_others(first: pl.DataFrame, trusted: frozenset[str]) -> pl.DataFrame:
    """With the mean of the other trusted raters as `others`, where there is one."""
    mine = pl.col("rater").is_in(list(trusted))
    counted = first.with_columns(
        pl.when(mine).then("value").otherwise(0.0).alias("part"), mine.cast(pl.Float64).alias("one")
    )
    sums = counted.with_columns(
        pl.col("part").sum().over("unit").alias("sum"), pl.col("one").sum().over("unit").alias("n")
    )
    others = sums.filter(pl.col("n") - pl.col("one") > 0.5)
    return others.with_columns(((pl.col("sum") - pl.col("part")) / (pl.col("n") - pl.col("one"))).alias("others"))


def _quality(rater: str, answers: PeopleAnswers, own: pl.DataFrame, beside: pl.DataFrame) -> RaterQuality:
    first = own.filter(showing=1)
    scored, compared = first.filter(pl.col("question") != PREFERENCE), first.filter(question=PREFERENCE)
    rated = beside.filter(pl.col("question") != PREFERENCE)
    sided = compared.filter(pl.col("given") != 0.5)
    attention = answers.attention.filter(rater=rater)
    twice = first.join(own.filter(showing=2), on="unit", suffix="_again")
    apart = (twice["value"] - twice["value_again"]).abs()
    return RaterQuality(
        rater=rater,
        n=first.height,
        attention=attention.height,
        attention_failed=int(attention["failed"].sum()),
        repeats=twice.height,
        repeat_difference=_mean(apart),
        unrelated_difference=_unrelated(twice),
        bias=_mean(rated["value"] - rated["others"]),
        spread=float(np.std(scored["value"].to_numpy(), ddof=1)) if scored.height > 1 else None,
        agreement=_agreement(beside),
        shared=beside.height,
        left_side=_mean(sided["given"]),
        sided=sided.height,
        seconds=_median(own["seconds"]),
        same_answer=_same_answer(first),
    )


def _mean(values: pl.Series) -> float | None:
    return float(values.to_numpy().mean()) if values.len() else None


def _median(values: pl.Series) -> float | None:
    known = values.drop_nulls()
    return float(np.median(known.to_numpy())) if known.len() else None


def _unrelated(twice: pl.DataFrame) -> float | None:
    """The mean difference of a first answer from the second ones about other pictures, of the same question."""
    found: list[float] = []
    for _, part in twice.group_by("question", maintain_order=True):
        one, again = part["value"].to_numpy(), part["value_again"].to_numpy()
        apart = np.abs(one[:, None] - again[None, :])
        found += apart[~np.eye(one.size, dtype=bool)].tolist()
    return float(np.mean(found)) if found else None


def _agreement(beside: pl.DataFrame) -> float | None:
    centred = beside.select(pl.col(name) - pl.col(name).mean().over("question") for name in ("value", "others"))
    one, other = (centred[name].to_numpy() for name in ("value", "others"))
    size = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float(np.clip((one * other).sum() / size, -1, 1)) if size > 1e-12 else None


def _same_answer(first: pl.DataFrame) -> float | None:
    """The share of the commonest answer within each question, over all of them together."""
    if not first.height:
        return None
    commonest = first.group_by("question", "given").len().group_by("question").agg(pl.col("len").max())
    return float(commonest["len"].sum()) / first.height
