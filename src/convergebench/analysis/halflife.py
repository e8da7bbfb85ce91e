"""How many round trips until a level is passed: per case, then over cases by Kaplan–Meier.

The half-life of a case is the first round whose value is worse than the level (with `sustained`: the first after which
it stays so). A lost picture is past every level. A case that never passes the level is censored at the last round with
a value, as is one that ended by a refusal, a failure or a spent budget. In the curve `usable` such an end is an event,
in the round that could not be done, and so is passing the headline level: whichever comes first. Chains that are open,
or whose recording ended, are censored in both.

Editors are compared over one horizon: the most rounds that each of them was followed for in at least half of its cases
(`followed`). Later rounds are cut off (`cut`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from convergebench.analysis.area import last_value, missing
from convergebench.analysis.retention import levels, passed, whole_value
from convergebench.analysis.schemas import stacked, table
from convergebench.analysis.survival import Median, Survival, kaplan_meier, median, restricted_mean
from convergebench.analysis.trajectories import Floats, Ints, Mask, Trajectories
from convergebench.metrics.base import MetricFacts
from convergebench.studies.analysis_settings import AnalysisSettings

NO_MORE_IMAGES = ("refused", "failed", "stopped")
"""Chain statuses after which there is no further image: refusal, failure, spent budget."""


class LevelPassing(NamedTuple):
    """Per case: the round of passing or the last one seen, the interpolated round, and whether it was passed."""

    rounds: Ints
    exact: Floats
    passed: Mask


class Level(NamedTuple):
    """One level of one metric on all chains."""

    metric: str
    name: str
    threshold: float
    cases: LevelPassing

    @property
    def curve(self) -> str:
        """The name of its survival curve."""
        return f"{self.metric} {self.name}"


def passing(values: Floats, threshold: float, facts: MetricFacts, *, sustained: bool = False) -> LevelPassing:
    """When each row of a cases × rounds matrix passes the level; column 0 is the untouched image."""
    beyond = passed(values, threshold, facts)
    beyond[:, 0] = False
    there = ~np.isnan(values)
    there[:, 0] = True
    last = last_value(values)
    if sustained:
        rounds = np.arange(values.shape[1])
        fine = np.where(there & ~beyond, rounds, 0).max(axis=1)
        candidate = there & beyond & (rounds[None, :] > fine[:, None])
    else:
        candidate = there & beyond
    happened = candidate.any(axis=1)
    first = candidate.argmax(axis=1)
    exact = np.full(values.shape[0], np.nan)
    for row in np.flatnonzero(happened):
        exact[row] = _interpolated(values[row], int(first[row]), threshold)
    return LevelPassing(np.where(happened, first, last), exact, happened)


def find_levels(data: Trajectories, settings: AnalysisSettings) -> list[Level]:
    """Every level of every measured metric."""
    return [
        Level(
            metric, name, threshold, passing(_beyond_any(data, metric), threshold, facts, sustained=settings.sustained)
        )
        for metric in data.measured
        if (facts := data.facts.get(metric)) is not None
        for name, threshold in levels(facts, settings).items()
    ]


def cut(cases: LevelPassing, horizon: int) -> LevelPassing:
    """The cases as if they had been followed only up to this round."""
    later = cases.rounds > horizon
    return LevelPassing(
        np.where(later, horizon, cases.rounds), np.where(later, np.nan, cases.exact), cases.passed & ~later
    )


def followed(data: Trajectories, cases: LevelPassing, rows: Mask) -> int:
    """The last round at which at least half of the cases in `rows` are known: passed before, or still observed."""
    rounds = cases.rounds[rows]
    end = int(max(rounds.max(initial=0), data.reached[rows].max(initial=0)))
    known = np.where(cases.passed[rows], end, rounds)
    return int(np.sort(known)[known.size // 2]) if known.size else 0


def _beyond_any(data: Trajectories, metric: str) -> Floats:
    """The values with lost pictures infinitely bad, so that every level is passed."""
    worst = -np.inf if data.facts[metric].better == "higher" else np.inf
    return np.where(data.lost[metric], worst, whole_value(data, metric))


def usable(data: Trajectories, headline: Level | None) -> LevelPassing:
    """Rounds until the image is no longer usable: past the headline level, or a round that could not be done."""
    broken = data.chains["status"].is_in(NO_MORE_IMAGES).to_numpy()
    end = np.where(broken, data.reached + 1, data.reached)
    if headline is None:
        return LevelPassing(end, np.full(end.size, np.nan), broken)
    seen = headline.cases.rounds
    lost = headline.cases.passed & (seen <= end)
    unbroken = np.minimum(end, seen)  # rounds whose value is missing are not known to be usable
    rounds = np.where(lost, seen, np.where(broken, end, unbroken))
    return LevelPassing(rounds, np.full(end.size, np.nan), lost | broken)


def half_life_text(middle: Median, last: int) -> str:
    """`6`, or `> 10` when not reached by the last observed round."""
    if middle.value is not None:
        return str(middle.value)
    return f"> {last}" if last else "not measured"


def half_life_table(
    data: Trajectories, found: list[Level], *, in_use: LevelPassing, ranked: Sequence[str], confidence: float
) -> pl.DataFrame:
    """The frame `half_life`: every level up to the horizon that the ranked editors have in common, and `usable`."""
    rows = []
    cells = {(editor, group): members for editor, group, members in data.cells()}
    for (editor, group), own in cells.items():
        for level in found:
            rivals = [cells[name, group] for name in ranked if (name, group) in cells]
            ends = [followed(data, level.cases, members) for members in rivals]
            cases = cut(level.cases, min([*ends, data.horizon]))
            rows.append(
                {
                    **{"editor": editor, "metric": level.metric, "level": level.name, "group": group},
                    **{"threshold": level.threshold, **_estimate(data, cases, own, confidence)},
                    "n_missing": int(missing(data, level.metric)[own].sum()),
                    "n_lost": int(data.lost[level.metric][own].sum()),
                }
            )
        rows.append(
            {
                **{"editor": editor, "metric": "usable", "level": None, "threshold": None, "group": group},
                **{**_estimate(data, in_use, own, confidence), "n_lost": 0},
                "n_missing": int((in_use.rounds[own] == 0).sum()),
            }
        )
    return table("half_life", rows)


def case_table(data: Trajectories, found: list[Level]) -> pl.DataFrame:
    """The frame `half_life_cases`."""
    names = {name: data.chains[name] for name in ("editor", "case")}
    parts = [
        {
            **names,
            **{"metric": level.metric, "level": level.name, "threshold": level.threshold},
            **level.cases._asdict(),
        }
        for level in found
    ]
    return stacked("half_life_cases", parts)


def survival_table(data: Trajectories, found: list[Level], *, in_use: LevelPassing, confidence: float) -> pl.DataFrame:
    """The frame `survival`: every level's curve, and `usable`."""
    named = [(level.curve, level.cases) for level in found] + [("usable", in_use)]
    parts = []
    for editor, group, rows in data.cells():
        for name, cases in named:
            curve = fit(data, cases, rows, confidence=confidence)
            parts.append(
                {
                    **{"editor": editor, "curve": name, "group": group, "round": np.arange(curve.survival.size)},
                    **curve._asdict(),
                }
            )
    return stacked("survival", parts)


def fit(data: Trajectories, cases: LevelPassing, rows: Mask, *, confidence: float) -> Survival:
    """Kaplan–Meier of some of the cases, clustered by source."""
    return kaplan_meier(cases.rounds[rows], cases.passed[rows], clusters=data.source[rows], confidence=confidence)


def _estimate(data: Trajectories, cases: LevelPassing, rows: Mask, confidence: float) -> dict[str, object]:
    """Median and restricted mean of some of the cases, with their counts."""
    curve = fit(data, cases, rows, confidence=confidence)
    middle = median(curve)
    mean, last = restricted_mean(curve)
    return {
        **{"median": middle.value, "low": middle.low, "high": middle.high, "text": half_life_text(middle, last)},
        **{"restricted_mean": mean if last else None, "rounds": last, "n_cases": int(rows.sum())},
        **{"n_events": int(curve.events.sum()), "n_censored": int(curve.censored.sum())},
        "n_sources": int(np.unique(data.source[rows]).size),
    }


def _interpolated(values: Floats, first: int, threshold: float) -> float:
    """Where the straight line from the last value before `first` crosses the level; NaN if that value is not finite."""
    before = np.flatnonzero(~np.isnan(values[:first]))
    if not before.size or not np.isfinite(values[[before[-1], first]]).all():
        return float("nan")
    start = int(before[-1])
    share = (values[start] - threshold) / (values[start] - values[first])
    return float(start + share * (first - start))
