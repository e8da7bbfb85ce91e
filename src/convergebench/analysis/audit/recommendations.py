"""Which metrics suit which purpose (filtering, following a chain, comparing images), with the limits applied.

An answer holds for the whole interval of the number it rests on; if the interval crosses a limit it is `unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from convergebench.analysis.audit.audit_data import ALL, AuditData, table
from convergebench.analysis.audit.settings import OFTEN
from convergebench.analysis.wording import counted, interval, percent, share_interval

FILTER, FOLLOW, COMPARE = "filter", "follow a chain", "compare images"
PURPOSES = (FILTER, FOLLOW, COMPARE)
HALF = 0.50
"""Share of damaged pictures that pass a filter, or on which a metric fails, up to which it is usable with care."""
CLEAR, EVEN = 2.0, 1.0
"""Mean gap in units of the spread over untouched images, from which damage shows, or shows with care."""

Row = Mapping[str, Any]
Answer = tuple[str, str]


def recommendation_table(
    metrics: pl.DataFrame, filter_risk: pl.DataFrame, confound: pl.DataFrame, data: AuditData
) -> pl.DataFrame:
    """The frame `recommendations`: three rows per metric."""
    risks = _risks(filter_risk.filter(pl.col("at").is_in(data.settings.gaps)))
    effects = {row["metric"]: row for row in confound.iter_rows(named=True)}
    rows = []
    for row in metrics.iter_rows(named=True):
        for purpose, (answer, reason) in zip(PURPOSES, _answers(row, risks, effects, data), strict=True):
            rows.append({"metric": row["metric"], "purpose": purpose, "answer": answer, "reason": reason})
    return table("recommendations", rows)


def _answers(row: Row, risks: Mapping[str, Row], effects: Mapping[str, Row], data: AuditData) -> Iterator[Answer]:
    if row["status"] != "audited":
        yield from [("unknown", row["reason"])] * len(PURPOSES)
        return
    answers = _filter(risks.get(row["metric"]), data), _follow(row), _compare(effects.get(row["metric"]), data)
    fooled = row["verdict"] in ("often fooled", "rewards damage")
    yield _limited_by_training(answers[0], row)
    yield _limited_by_training(answers[1], row)
    # a large mean drop is no clear yes if the score often moves the wrong way
    yield _limited_by_training(_at_most_with_care(answers[2], f"it is {row['verdict']}") if fooled else answers[2], row)


def _risks(filter_risk: pl.DataFrame) -> dict[str, Row]:
    """Per metric the row of the mildest possible filter, at the last gap, for all editors together."""
    every = filter_risk.filter(editor=ALL)
    last = every.filter(pl.col("at") == pl.col("at").max().over("metric"))
    # where no filter is possible, the mildest one has the number of images needed
    mildest = last.sort(pl.col("share").is_null(), "percentile", maintain_order=True)
    return {row["metric"]: row for row in mildest.unique("metric", keep="first").iter_rows(named=True)}


def _filter(risk: Row | None, data: AuditData) -> Answer:
    if risk is None:
        return "unknown", "No chain is long enough to test a filter."
    if risk["share"] is None:
        images = counted(risk["n_clean"], "untouched image")
        return (
            "unknown",
            f"{images}: too few to tell, a filter at percentile {risk['percentile']:g} takes {risk['needed']}.",
        )
    band = share_interval(risk["low"], risk["high"], data.settings.confidence)
    reason = f"{percent(risk['share'])}{band} of {risk['n']} images at {data.settings.by} {risk['at']} pass a filter "
    reason += (
        f"at percentile {risk['percentile']:g}, which keeps {percent(risk['clean_share'])} of the untouched images"
    )
    rule = f"yes if the whole interval is below {percent(OFTEN)}, with care up to {percent(HALF)}, no above"
    return _by_share(risk["low"], risk["high"]), f"{reason}; {rule}."


def _follow(row: Row) -> Answer:
    rule = f"yes if sound, with care up to {percent(HALF)}, no if the whole interval is at {percent(OFTEN)} or above"
    reason = f"{row['reason'].removesuffix('.')}; {rule}."
    if row["verdict"] == "too few to tell":
        return "unknown", row["reason"]
    if row["verdict"] == "sound":
        return "yes", reason
    if row["verdict"] in ("often fooled", "rewards damage"):
        return "no", reason
    return ("with care" if row["high"] <= HALF else "unknown"), reason


def _compare(effect: Row | None, data: AuditData) -> Answer:
    if effect is None or effect["ratio"] is None:
        return "unknown", "Too few untouched images, or no gap, to compare damage with content."
    band = interval(effect["low"], effect["high"], data.settings.confidence, digits=2, dash=False)
    rises = effect["mean_gap"] >= 0
    reason = f"Damage {'raises' if rises else 'lowers'} the score by {effect['ratio']:.2f}{band} times its spread over "
    reason += f"{counted(effect['n_clean'], 'untouched image')}"
    if effect["low"] is None:
        return "unknown", f"{reason}; too few to tell."
    if rises and effect["low"] > 0:
        return "no", f"{reason}; it should fall."
    rule = f"yes if the whole interval is at {CLEAR:g} or above, with care from {EVEN:g}, no below"
    if effect["high"] < EVEN:
        answer = "no"
    else:
        answer = "yes" if effect["low"] >= CLEAR else "with care" if effect["low"] >= EVEN else "unknown"
    return answer, f"{reason}; {rule}."


def _by_share(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "unknown"
    if low > HALF:
        return "no"
    return "yes" if high < OFTEN else "with care" if high <= HALF else "unknown"


def _limited_by_training(answer: Answer, row: Row) -> Answer:
    """The answer, at most `with care` for a metric trained on pictures of the audited editors."""
    return _at_most_with_care(answer, f"it was trained on {row['learned_from']}") if row["learned_from"] else answer


def _at_most_with_care(answer: Answer, why: str) -> Answer:
    if answer[0] != "yes":
        return answer
    return "with care", f"{answer[1].removesuffix('.')}; but {why}, so at most with care."
