"""People's rows of the table `ratings` as answers: scores, pairs and attention items, one row per answer that counts.

A row counts if a person gave it, its question is known, its value is on the scale and its picture belongs to the run.
Of several rows of one rater about the same showing of the same picture the latest counts; where that says "cannot say",
there is no answer. `detail` is JSON that others wrote: what cannot be read in it is taken as not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import polars as pl

from convergebench.analysis.ratings.scales import CONTROLS, PREFERENCE, SCALES, is_answer

_ABOUT: dict[str, type[pl.DataType]] = {
    **{"rater": pl.String, "question": pl.String, "source": pl.String, "item": pl.String, "showing": pl.Int64},
    **{"value": pl.Float64, "seconds": pl.Float64},
}
SCORES: dict[str, type[pl.DataType]] = {**_ABOUT, "editor": pl.String}
PAIRS: dict[str, type[pl.DataType]] = {**_ABOUT, "left": pl.String, "right": pl.String}
ATTENTION: dict[str, type[pl.DataType]] = {"rater": pl.String, "question": pl.String, "failed": pl.Boolean}

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PeopleAnswers:
    """Every answer that counts.

    `source` is the photograph that the picture was made from, the cluster of every interval; `item` is what methods are
    compared on, a case at a step.
    """

    scores: pl.DataFrame
    """rater, question, source, item, showing (1 or 2), value, seconds, editor."""
    pairs: pl.DataFrame
    """The same about two pictures: left, right (editors); value 1 for the left one."""
    attention: pl.DataFrame
    """rater, question, failed."""

    @property
    def raters(self) -> list[str]:
        """Everybody who gave an answer."""
        frames = (self.scores, self.pairs, self.attention)
        return sorted({rater for frame in frames for rater in frame["rater"].to_list()})

    def first(self) -> PeopleAnswers:
        """Without second showings."""
        return replace(self, scores=self.scores.filter(showing=1), pairs=self.pairs.filter(showing=1))

    def without(self, raters: frozenset[str]) -> PeopleAnswers:
        """Without these raters."""
        keep = ~pl.col("rater").is_in(list(raters))
        return PeopleAnswers(*(part.filter(keep) for part in (self.scores, self.pairs, self.attention)))


def read_answers(
    ratings: pl.DataFrame, chains: pl.DataFrame, *, images: Mapping[str, Mapping[str, Any]] | None = None
) -> PeopleAnswers:
    """The answers of a run, from its frames; `ratings` are in the order in which they were made.

    `images` may say of which clean image (`clean`) another one is a degraded copy: they are one photograph.
    """
    if not ratings.height or not chains.height:
        return PeopleAnswers(*(pl.DataFrame(schema=columns) for columns in (SCORES, PAIRS, ATTENTION)))
    sources = {
        case: str((images or {}).get(source, {}).get("clean") or source)
        for case, source in chains.select("case", "source").iter_rows()
    }
    known = set(chains.select("editor", "case").iter_rows())
    scores: list[Row] = []
    pairs: list[Row] = []
    attention: list[Row] = []
    for row, detail in _latest(ratings):
        if not is_answer(row["question"], row["value"]):
            continue
        other = _object(detail.get("against"))
        rule = _object(detail.get("attention"))
        if rule or CONTROLS & {row["editor"], str(other.get("editor"))}:
            attention += _attention(row, rule)
        elif (row["editor"], row["case"]) in known:
            about = _about(row, detail, sources[row["case"]])
            if row["question"] != PREFERENCE:
                scores.append({**about, "editor": row["editor"]})
            elif _comparable(row, other, sources, known):
                pairs.append({**about, "left": row["editor"], "right": other["editor"]})
    return PeopleAnswers(
        pl.DataFrame(scores, schema=SCORES),
        pl.DataFrame(pairs, schema=PAIRS),
        pl.DataFrame(attention, schema=ATTENTION),
    )


def _latest(ratings: pl.DataFrame) -> list[tuple[Row, Row]]:
    """People's rows with a known question and their details: the latest about each showing of a picture or pair."""
    found: dict[tuple[object, ...], tuple[Row, Row]] = {}
    for row in ratings.filter(source="person").iter_rows(named=True):
        if row["question"] in SCALES or row["question"] == PREFERENCE:
            detail = _object(row["detail"])
            other = _object(detail.get("against"))
            shown = (*(row[name] for name in ("rater", "question", "editor", "case", "step")), _showing(detail))
            if _object(detail.get("attention")):  # the same control picture may come several times
                shown += (_number(detail.get("position")),)
            found[*shown, *(str(other.get(name)) for name in ("editor", "case", "step"))] = (row, detail)
    return list(found.values())


def _about(row: Row, detail: Row, source: str) -> dict[str, Any]:
    return {
        **{"rater": row["rater"], "question": row["question"], "source": source, "value": row["value"]},
        **{
            "item": f"{row['case']} {row['step']}",
            "showing": _showing(detail),
            "seconds": _number(detail.get("seconds")),
        },
    }


def _comparable(row: Row, other: Row, sources: Mapping[str, str], known: set[tuple[str, str]]) -> bool:
    """Whether the other picture shows another method's result for the same source."""
    named = other.get("editor"), other.get("case")
    if not all(isinstance(name, str) for name in named) or named not in known:
        return False
    return named[0] != row["editor"] and sources[str(named[1])] == sources[row["case"]]


def _attention(row: Row, rule: Row) -> list[Row]:
    least, most = _number(rule.get("least")), _number(rule.get("most"))
    if least is None and most is None:
        return []
    failed = (least is not None and row["value"] < least) or (most is not None and row["value"] > most)
    return [{"rater": row["rater"], "question": row["question"], "failed": failed}]


def _object(value: object) -> Row:
    """A JSON object, also as text; anything else is an empty one."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _showing(detail: Row) -> int:
    return 2 if _number(detail.get("showing")) == 2 else 1


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:
        return None
