"""The judge against people, and against other judges, on the pictures that both rated."""

from __future__ import annotations

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.rater_agreement import FEWEST_RATED, clustered, measures_of
from convergebench.analysis.factory.result import frame
from convergebench.studies.factory_table import CRITERIA

QUESTIONS = ("score", *CRITERIA)
"""What a rating may be about; `judge-edit` and `quality` without a criterion are held against the score."""
OVERALL = "score"


def agreement_table(attempts: pl.DataFrame, ratings: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `judge_agreement`: per question and rater, and `people` for the mean of all persons.

    A picture that was rated several times by one rater counts with its mean.
    """
    if not ratings.height or not attempts.height:
        return frame("judge_agreement", [])
    asked = ratings.with_columns(
        pl.when(pl.col("question").is_in(CRITERIA)).then("question").otherwise(pl.lit(OVERALL)).alias("question")
    )
    people = asked.filter(pl.col("source") == "person").with_columns(pl.lit("people").alias("rater"))
    several = people.height and asked.filter(pl.col("source") == "person")["rater"].n_unique() > 1
    rows: list[dict[str, object]] = []
    keys = ["editor", "question", "rater", "source"]
    for (editor, question, rater, source), part in pl.concat([people, asked] if several else [asked]).group_by(
        keys, maintain_order=True
    ):
        theirs = part.group_by("case", "step").agg(pl.col("value").mean().alias("theirs"))
        judged = attempts.filter(pl.col("editor") == editor).select(
            *("case", pl.col("position").alias("step"), pl.col("source").alias("image"), str(question))
        )
        both = judged.join(theirs, on=["case", "step"], how="inner").rename({str(question): "ours"})
        names = {"editor": editor, "question": question, "rater": rater, "source": source}
        rows += [{**names, **row} for row in _measured(both, bootstrap)]
    return frame("judge_agreement", rows)


def between_judges(first: pl.DataFrame, second: pl.DataFrame, bootstrap: Bootstrap, rater: str) -> pl.DataFrame:
    """The frame `judge_agreement` of two runs' `attempts` with different judges, on the pictures that both judged.

    Attempts are matched by their state (editor, settings, words and draw on the same picture). An editor without a seed
    may have given another picture for it: `conductor.factory_judges` leaves those out before it calls this.
    """
    ours = first.select("editor", "state", pl.col("source").alias("image"), *QUESTIONS)
    theirs = second.select("state", *QUESTIONS).unique("state", keep="first", maintain_order=True)
    both = ours.drop_nulls("state").join(theirs, on="state", how="inner", suffix="_theirs")
    rows: list[dict[str, object]] = []
    for (editor,), part in both.sort("editor").group_by("editor", maintain_order=True):
        for question in QUESTIONS:
            pair = part.select("image", pl.col(question).alias("ours"), pl.col(f"{question}_theirs").alias("theirs"))
            names = {"editor": editor, "question": question, "rater": rater, "source": "role"}
            rows += [{**names, **row} for row in _measured(pair, bootstrap)]
    return frame("judge_agreement", rows)


def _measured(both: pl.DataFrame, bootstrap: Bootstrap) -> list[dict[str, object]]:
    known = both.drop_nulls(["ours", "theirs"])
    one, other = (known[name].to_numpy().astype(np.float64) for name in ("ours", "theirs"))
    sources = known["image"].to_list()
    counts: dict[str, object] = {"n": known.height, "n_missing": both.height - known.height}
    counts["n_sources"] = known["image"].n_unique()
    if known.height < FEWEST_RATED:
        note = f"{known.height} pictures have both ratings; {FEWEST_RATED} are needed"
        return [{**counts, "measure": "none", "note": note}]
    found = []
    for name, measure in measures_of(one, other).items():
        value = clustered(one, other, sources, measure, bootstrap)
        note = "one side never changes" if value.value is None else ""
        found.append(
            {**counts, "measure": name, "value": value.value, "low": value.low, "high": value.high, "note": note}
        )
    return found
