"""Whether scores repeat: the distance between two scores of one picture, on 0…100, per kind of repetition."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from convergebench.analysis.audit.audit_data import by_name, table, typed
from convergebench.analysis.audit.scaling import scale_of
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts
from convergebench.studies.analysis_settings import AuditSettings


def repeat_table(repeats: pl.DataFrame, facts: Mapping[str, MetricFacts], settings: AuditSettings) -> pl.DataFrame:
    """The frame `repeats`: `n` pairs of scores, of which `same` are equal to the last bit.

    `status` lists the statuses of the rows, `ok` first. Without a range there is no scaled distance.
    """
    rows = []
    given = typed(repeats, "repeats")
    for (name, check), part in given.group_by("metric", "check", maintain_order=True):
        both = (pl.col("first").is_finite() & pl.col("second").is_finite() & (pl.col("status") == "ok")).fill_null(
            False
        )
        known = part.filter(both)
        away = (known["first"] - known["second"]).abs()
        width = _width(str(name), facts, settings)
        statuses = sorted(part["status"].drop_nulls().unique().to_list(), key=lambda one: (one != "ok", one))
        row: dict[str, object] = {"metric": name, "check": check, "n": known.height, "same": int((away == 0).sum())}
        row["status"] = ", ".join(statuses)
        if known.height and width is not None:
            row |= {"largest": 100 * away.max() / width, "median": 100 * away.median() / width}  # type: ignore[operator]
        rows.append(row)
    rows.sort(key=lambda row: by_name(str(row["metric"])))
    return table("repeats", rows)


def _width(name: str, facts: Mapping[str, MetricFacts], settings: AuditSettings) -> float | None:
    if name not in facts:
        return None
    try:
        return scale_of(facts[name], settings).width
    except StudyError:
        return None
