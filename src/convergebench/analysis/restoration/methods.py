"""Tables 4 and 5 of the literature: methods side by side, over all pictures and on each kind.

All methods are averaged over the same pictures: those that every method with enough coverage restored. Others stand
beside them on what they have of these. The degraded input is a row of its own, `input`. No method is the best that is
no better than the input, that delivered too little, or that is simulated where others are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from convergebench.analysis.restoration.paper import paper_category, paper_method
from convergebench.analysis.restoration.pictures import (
    PictureValues,
    bounds_of,
    finite,
    paired_mean,
    picture_mean,
    picture_values,
)
from convergebench.analysis.restoration.restored import needs_reference
from convergebench.analysis.restoration.result import INPUT, frame
from convergebench.analysis.restoration.scope import RestorationScope
from convergebench.analysis.trajectories import Floats, Mask
from convergebench.analysis.wording import percent
from convergebench.studies.restoration_table import DEGRADATIONS, SCENES

NO_REFERENCE = "no reference"
"""The note of a cell that is printed as `/`."""
DIGITS = 9
"""Means that differ beyond this digit only differ by the order of a summation."""
TITLES = {**SCENES, **DEGRADATIONS}


def method_table(scope: RestorationScope) -> pl.DataFrame:
    """The frame `method_results`."""
    rows: list[dict[str, Any]] = []
    first = scope.first_results()
    for metric in scope.metrics:
        for row in _method_rows(first, scope, metric):
            rows.append({**row, "metric": metric, "paper": paper_method(str(row["editor"]), metric)})
    return frame("method_results", rows)


def category_table(scope: RestorationScope) -> pl.DataFrame:
    """The frame `category_results`, scenes before degradations."""
    rows: list[dict[str, Any]] = []
    first = scope.first_results()
    found = first.select("kind", "set").unique().sort("set", "kind", descending=[True, False])
    order = {name: place for place, name in enumerate(TITLES)}
    for kind, group in sorted(
        found.iter_rows(), key=lambda one: (one[1] != "scene", order.get(one[0], len(order)), one[0])
    ):
        own = first.filter(pl.col("kind") == kind, pl.col("set") == group)
        for metric in scope.metrics:
            names = {"category": kind, "title": TITLES.get(kind, kind), "set": group, "metric": metric}
            for row in _method_rows(own, scope, metric):
                rows.append({**row, **names, "paper": paper_category(kind, str(row["editor"]), metric)})
    return frame("category_results", rows)


def method_values(rows: pl.DataFrame, scope: RestorationScope, metric: str) -> PictureValues:
    """The values of all methods, and of the degraded input as the last of them."""
    values = picture_values(rows, scope, metric=metric, by="editor", names=sorted(rows["editor"].unique()))
    before = dict(rows.filter(metric=metric).group_by("source").agg(pl.col("before").drop_nulls().first()).iter_rows())
    inputs = np.array(
        [np.nan if (value := before[one]) is None else value for one in values.pictures], dtype=np.float64
    )
    return replace(
        values,
        names=(*values.names, INPUT),
        values=np.vstack([values.values, inputs]),
        coverage=np.append(values.coverage, 1.0),
    )


def common_pictures(values: PictureValues, scope: RestorationScope) -> Mask:
    """The pictures that every method with enough coverage restored, whether or not the input has a value."""
    methods = replace(values, names=values.names[:-1], values=values.values[:-1], coverage=values.coverage[:-1])
    return methods.common(scope.settings.coverage)


def contenders(values: PictureValues, scope: RestorationScope) -> list[str]:
    """Who may be the best: methods with enough coverage, simulated ones only where there is no other."""
    methods = zip(values.names[:-1], values.coverage[:-1], strict=True)
    enough = [name for name, coverage in methods if coverage >= scope.settings.coverage]
    return [name for name in enough if name not in scope.simulated] or enough


def _method_rows(rows: pl.DataFrame, scope: RestorationScope, metric: str) -> list[dict[str, Any]]:
    values = method_values(rows, scope, metric)
    kept = values.on(common_pictures(values, scope))
    inputs = kept.row(INPUT)
    found = []
    for name, coverage in zip(values.names, values.coverage, strict=True):
        own = kept.row(name)
        mean = picture_mean(own, kept.photographs, scope, bounds_of(metric, scope))
        n_cases = int((~np.isnan(own)).sum())
        row = {
            **{"editor": name, "mean": mean.value, "low": mean.low, "high": mean.high, "n_sources": mean.n_sources},
            **{"n_cases": n_cases, "n_missing": len(values.pictures) - n_cases},
            "coverage": coverage if values.pictures and name != INPUT else None,
        }
        gain = scope.sign(metric) * (own - inputs)
        if name != INPUT and not np.isnan(gain).all():
            row |= _gain(gain, kept.photographs, scope)
        row["note"] = _note(row, gain, values, scope, metric)
        found.append(row)
    return _marked(found, contenders(values, scope), scope.sign(metric))


def _gain(gain: Floats, photographs: tuple[str, ...], scope: RestorationScope) -> dict[str, float | None]:
    band = paired_mean(gain, photographs, scope)
    improved = float((gain[~np.isnan(gain)] > 0).mean())
    ends = {"gain_low": finite(band.low), "gain_high": finite(band.high)}
    return {"gain": finite(band.difference), **ends, "improved": improved}


def _marked(rows: list[dict[str, Any]], allowed: Sequence[str], sign: int) -> list[dict[str, Any]]:
    """With `best`: the first of those that may be, if it is better than the input."""
    able = [row for row in rows if row["editor"] in allowed and row["mean"] is not None and _helps(row)]
    top = max((sign * round(row["mean"], DIGITS) for row in able), default=None)
    return [{**row, "best": row in able and sign * round(row["mean"], DIGITS) == top} for row in rows]


def _helps(row: Mapping[str, Any]) -> bool:
    """Whether it gains over the input, or nothing is known of the input."""
    return row.get("gain") is None or round(row["gain"], DIGITS) > 0


def _note(row: Mapping[str, Any], gain: Floats, values: PictureValues, scope: RestorationScope, metric: str) -> str:
    if not values.pictures:
        return NO_REFERENCE if needs_reference(scope.facts[metric]) else "not measured"
    if row["editor"] == INPUT:
        return "the degraded picture itself"
    notes = ["simulated"] if row["editor"] in scope.simulated else []
    if row["coverage"] < scope.settings.coverage:
        notes.append(f"delivered {percent(row['coverage'])}, too little to be compared")
    if not row["n_cases"]:
        notes.append("no picture in common")
    if row.get("gain") is not None:
        if (gain[~np.isnan(gain)] == 0).all():
            notes.append("same as the input on every picture")
        elif row["gain_high"] is not None and row["gain_high"] < 0:
            notes.append("worse than the input")
        elif not _helps(row):
            notes.append("no better than the input")
    return "; ".join(notes)
