"""What each metric is good for: filtering, following a chain, comparing images; and where the line was drawn.

An answer holds for the whole interval of what it rests on. Where the interval reaches over a line nothing can be told,
and the answer is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from convergebench.analysis.audit.material import ALL, Material, table
from convergebench.analysis.audit.settings import OFTEN
from convergebench.analysis.audit.words import counted, ends, percent

FILTER, FOLLOW, COMPARE = "filter", "follow a chain", "compare images"
PURPOSES = (FILTER, FOLLOW, COMPARE)
HALF = 0.50
"""Share of damaged pictures that pass a filter, or on which a metric fails, up to which it is usable with care."""
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
    """Per metric the row of the mildest filter that could be set, at the last gap, all editors together."""
    every = filter_risk.filter(editor=ALL)
    last = every.filter(pl.col("at") == pl.col("at").max().over("metric"))
    # where none could be set, the mildest one says what it would take
    mildest = last.sort(pl.col("share").is_null(), "percentile", maintain_order=True)
    return {row["metric"]: row for row in mildest.unique("metric", keep="first").iter_rows(named=True)}


def _filter(risk: Row | None, material: Material) -> Answer:
    if risk is None:
        return "unknown", "No picture is late enough to try a filter."
    if risk["share"] is None:
        images = counted(risk["n_clean"], "untouched image")
        return (
            "unknown",
            f"{images}: too few to tell, a filter at percentile {risk['percentile']:g} takes {risk['needed']}.",
        )
    band = ends(risk["low"], risk["high"], material.settings.confidence, share=True)
    told = (
        f"{percent(risk['share'])}{band} of {risk['n']} pictures at {material.settings.by} {risk['at']} pass a filter "
    )
    told += f"at percentile {risk['percentile']:g}, which keeps {percent(risk['clean_share'])} of the untouched images"
    rule = f"under {percent(OFTEN)} for sure is a yes, up to {percent(HALF)} calls for care, over that is a no"
    return _by_share(risk["low"], risk["high"]), f"{told}; {rule}."


def _follow(row: Row) -> Answer:
    rule = f"sound is a yes, {percent(OFTEN)} or more for sure is a no, up to {percent(HALF)} calls for care"
    told = f"{row['reason'].removesuffix('.')}; {rule}."
    if row["verdict"] == "too few to tell":
        return "unknown", row["reason"]
    if row["verdict"] == "sound":
        return "yes", told
    if row["verdict"] in ("often fooled", "rewards damage"):
        return "no", told
    return ("with care" if row["high"] <= HALF else "unknown"), told


def _compare(effect: Row | None, material: Material) -> Answer:
    if effect is None or effect["ratio"] is None:
        return "unknown", "Too few untouched images, or no gap, to hold damage against content."
    band = ends(effect["low"], effect["high"], material.settings.confidence, digits=2)
    rises = effect["mean_gap"] >= 0
    told = f"Damage {'raises' if rises else 'lowers'} the score by {effect['ratio']:.2f}{band} times its spread over "
    told += f"{counted(effect['n_clean'], 'untouched image')}"
    if effect["low"] is None:
        return "unknown", f"{told}; too few to tell."
    if rises and effect["low"] > 0:
        return "no", f"{told}; it should lower it."
    rule = f"{CLEAR:g} or more for sure is a yes, {EVEN:g} or more calls for care, under that is a no"
    if effect["high"] < EVEN:
        answer = "no"
    else:
        answer = "yes" if effect["low"] >= CLEAR else "with care" if effect["low"] >= EVEN else "unknown"
    return answer, f"{told}; {rule}."


def _by_share(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "unknown"
    if low > HALF:
        return "no"
    return "yes" if high < OFTEN else "with care" if high <= HALF else "unknown"


def _taught(answer: Answer, row: Row) -> Answer:
    """What a metric does on pictures of its own teachers is no ground for a yes."""
    return _no_more_than_care(answer, f"it was learned from {row['learned_from']}") if row["learned_from"] else answer


def _no_more_than_care(answer: Answer, why: str) -> Answer:
    if answer[0] != "yes":
        return answer
    return "with care", f"{answer[1].removesuffix('.')}; but {why}, which allows no more than care."
