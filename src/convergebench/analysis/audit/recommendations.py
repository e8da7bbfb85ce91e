"""What each metric is good for: filtering, following a chain, comparing images; and where the line was drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from convergebench.analysis.audit.material import ALL, Material, table
from convergebench.analysis.audit.verdicts import OFTEN
from convergebench.analysis.audit.words import ends, percent

FILTER, FOLLOW, COMPARE = "filter", "follow a chain", "compare images"
PURPOSES = (FILTER, FOLLOW, COMPARE)
FEW_PASS, HALF_PASS = 0.10, 0.50
"""Share of damaged pictures that pass a filter, up to which it is worth having, or worth having with care."""
CLEAR, EVEN = 2.0, 1.0
"""Mean gap in units of the spread over untouched images, from which damage shows, or shows with care."""

Row = Mapping[str, Any]
Answer = tuple[str, str]


def recommendation_table(
    metrics: pl.DataFrame, filter_risk: pl.DataFrame, confound: pl.DataFrame, material: Material
) -> pl.DataFrame:
    """The frame `recommendations`: three rows per metric."""
    risks = _risks(filter_risk.filter(pl.col("at").is_in(material.settings.gaps)))
    effects = {row["metric"]: row for row in confound.iter_rows(named=True)}
    rows = []
    for row in metrics.iter_rows(named=True):
        for purpose, (answer, reason) in zip(PURPOSES, _answers(row, risks, effects, material), strict=True):
            rows.append({"metric": row["metric"], "purpose": purpose, "answer": answer, "reason": reason})
    return table("recommendations", rows)


def _answers(row: Row, risks: Mapping[str, Row], effects: Mapping[str, Row], material: Material) -> Iterator[Answer]:
    if row["status"] != "audited":
        yield from [("unknown", row["reason"])] * len(PURPOSES)
        return
    answers = _filter(risks.get(row["metric"]), material), _follow(row), _compare(effects.get(row["metric"]), material)
    fooled = row["verdict"] in ("often fooled", "rewards damage")
    yield _taught(answers[0], row)
    yield _taught(answers[1], row)
    # a large drop on average is no clear yes where the score so often goes the wrong way
    yield _taught(_no_more_than_care(answers[2], f"it is {row['verdict']}") if fooled else answers[2], row)


def _risks(filter_risk: pl.DataFrame) -> dict[str, Row]:
    """Per metric the row of the mildest filter at the last gap, all editors together."""
    every = filter_risk.filter(editor=ALL)
    mildest = every.filter(pl.col("percentile") == pl.col("percentile").min().over("metric"))
    last = mildest.filter(pl.col("at") == pl.col("at").max().over("metric"))
    return {row["metric"]: row for row in last.iter_rows(named=True)}


def _filter(risk: Row | None, material: Material) -> Answer:
    if risk is None or risk["share"] is None:
        return "unknown", "Too few untouched images, or no picture late enough, to try a filter."
    band = ends(risk["low"], risk["high"], material.settings.confidence, share=True)
    told = (
        f"{percent(risk['share'])}{band} of {risk['n']} pictures at {material.settings.by} {risk['at']} pass a filter "
    )
    told += f"that keeps {percent(risk['clean_share'])} of the untouched images; "
    told += f"at most {percent(FEW_PASS)} is a yes, at most {percent(HALF_PASS)} calls for care."
    return _graded(risk["share"] <= FEW_PASS, risk["share"] <= HALF_PASS), told


def _follow(row: Row) -> Answer:
    rule = f"no failure is a yes, under {percent(OFTEN)} calls for care"
    if row["n_failed"] and row["n_missing"]:
        rule += ", pictures that lack only some gaps taken as noticed"
    answers = {"sound": "yes", "unproven": "with care", "sometimes fooled": "with care"}
    if row["n_cells"] == row["n_missing"]:
        return "unknown", row["reason"]
    return answers.get(row["verdict"], "no"), f"{row['reason'].removesuffix('.')}; {rule}."


def _compare(effect: Row | None, material: Material) -> Answer:
    if effect is None or effect["ratio"] is None:
        return "unknown", "Too few untouched images, or no gap, to hold damage against content."
    if effect["mean_gap"] >= 0:
        return "no", f"Damage does not lower the score: {effect['mean_gap']:+.2f} of 100 on average."
    band = ends(effect["low"], effect["high"], material.settings.confidence, digits=2)
    told = (
        f"Damage lowers the score by {effect['ratio']:.2f}{band} times its spread over {effect['n_clean']} untouched "
    )
    told += f"images; {CLEAR:g} or more is a yes, {EVEN:g} or more calls for care."
    return _graded(effect["ratio"] >= CLEAR, effect["ratio"] >= EVEN), told


def _taught(answer: Answer, row: Row) -> Answer:
    """What a metric does on pictures of its own teachers is no ground for a yes."""
    return _no_more_than_care(answer, f"it was learned from {row['learned_from']}") if row["learned_from"] else answer


def _no_more_than_care(answer: Answer, why: str) -> Answer:
    if answer[0] != "yes":
        return answer
    return "with care", f"{answer[1].removesuffix('.')}; but {why}, which allows no more than care."


def _graded(yes: bool, care: bool) -> str:
    return "yes" if yes else "with care" if care else "no"
