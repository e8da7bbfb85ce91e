"""Chance level: what every metric, and the closeness, give to pictures unrelated to the source.

The closeness of an anchor is that of a chain which returns this picture in every round, by the same area and formula as
an editor's. The untouched image at round 0 counts too, so no anchor has closeness 0. A picture that a metric cannot
measure (even grey has no layout) counts as lost, as it would for an editor; a source that the metric cannot measure is
left out. Adherence does not apply to an anchor, so it has no score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from convergebench.analysis.area import area
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.retention import has_retention, retention
from convergebench.analysis.schemas import table
from convergebench.analysis.score import Score, make_score
from convergebench.analysis.trajectories import LOST, Floats, Mask, usable_value
from convergebench.metrics.base import MetricFacts
from convergebench.studies.analysis_settings import AnalysisSettings

ANCHORS = ("noise", "grey", "other")
"""In the order of every table."""
CLOSENESS = "closeness"
"""The `metric` of rows that hold the score without adherence."""


def anchor_table(
    anchors: pl.DataFrame, facts: Mapping[str, MetricFacts], settings: AnalysisSettings, *, rounds: int
) -> pl.DataFrame:
    """The frame `anchors`; `rounds` is the number that the ranking compares. Empty without rows or rounds."""
    return table("anchors", list(_rows(anchors, facts, settings, rounds)) if anchors.height and rounds else [])


def _rows(
    anchors: pl.DataFrame, facts: Mapping[str, MetricFacts], settings: AnalysisSettings, rounds: int
) -> Iterator[dict[str, object]]:
    bootstrap = Bootstrap.of(settings)
    known = [name for name in facts if name in set(anchors["metric"])]
    for anchor in ANCHORS:
        mine = anchors.filter(pl.col("anchor") == anchor)
        sources = mine["source"].unique().sort()
        areas: dict[str, Floats] = {}
        gone: dict[str, Mask] = {}
        for name in known:
            values, lost = _of_metric(mine.filter(pl.col("metric") == name), sources)
            if has_retention(facts[name]):
                areas[name] = _area(retention(values, facts[name]), lost, rounds)
                gone[name] = lost
            if not (np.isnan(values).all() and not lost.any()):
                found = areas.get(name)
                mean_area = None if found is None or np.isnan(found).all() else float(np.nanmean(found))
                yield {
                    **{"anchor": anchor, "metric": name, **_mean(values, facts[name], bootstrap), "area": mean_area},
                    **{"n_sources": int((~np.isnan(values) | lost).sum()), "n_lost": int(lost.sum())},
                }
        score = make_score(areas, settings)
        if score.metrics:
            yield {"anchor": anchor, "metric": CLOSENESS, **_close(score, areas, gone, bootstrap)}


def _of_metric(rows: pl.DataFrame, sources: pl.Series) -> tuple[Floats, Mask]:
    """The metric's value of every source (NaN where there is none), and where the picture is lost."""
    read = rows.select("source", usable_value().alias("value"), pl.col("status").is_in(list(LOST)).alias("lost"))
    placed = sources.to_frame().join(read.unique("source", keep="first", maintain_order=True), on="source", how="left")
    values = placed.sort("source")["value"].fill_null(np.nan).to_numpy()
    return values, placed.sort("source")["lost"].fill_null(False).to_numpy()


def _area(kept: Floats, lost: Mask, rounds: int) -> Floats:
    """The area of chains that keep this share in every round after the untouched image."""
    share = np.maximum(np.where(lost, 0.0, kept), 0.0)
    return area(np.column_stack([np.ones(share.size), *(share,) * rounds]))


def _mean(values: Floats, facts: MetricFacts, bootstrap: Bootstrap) -> dict[str, object]:
    """The mean over sources; decibels are averaged as squared errors, as they are in curves."""
    decibels = facts.unit == "dB"
    there = ~np.isnan(values)[:, None]
    averaged = 10 ** (-values / 10) if decibels else values
    band = bootstrap.ratio(
        np.where(there, averaged[:, None], 0.0),
        there.astype(np.float64),
        bounds=(0.0, np.inf) if decibels else facts.range,
    )
    mean, low, high = (-10 * np.log10(end[0]) if decibels else end[0] for end in band)
    return {"mean": mean, "low": high if decibels else low, "high": low if decibels else high}


def _close(
    score: Score, areas: Mapping[str, Floats], gone: Mapping[str, Mask], bootstrap: Bootstrap
) -> dict[str, object]:
    """The closeness over the sources that have every metric of the score."""
    parts = np.column_stack([areas[name] for name in score.metrics])
    whole = ~np.isnan(parts).any(axis=1)
    features = np.column_stack([parts, np.ones(whole.size)])[whole]
    lost = np.column_stack([gone[name] for name in score.metrics])[whole].any(axis=1)
    counts = {"area": None, "n_sources": int(whole.sum()), "n_lost": int(lost.sum())}
    if not whole.any():
        return {"mean": None, "low": None, "high": None, **counts}
    band = bootstrap.statistic(features, score.value, bounds=(0.0, 100.0))
    return {"mean": band.estimate[0], "low": band.low[0], "high": band.high[0], **counts}
