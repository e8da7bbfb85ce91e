"""Worst cases first: which chains lose most, by the area of the headline metric (its last value where it has none)."""

from __future__ import annotations

import numpy as np
import polars as pl

from convergebench.analysis.area import last_value
from convergebench.analysis.halflife import Level
from convergebench.analysis.retention import with_lost
from convergebench.analysis.schemas import CHAIN, OUTPUTS, clean, declared
from convergebench.analysis.trajectories import Floats, Trajectories


def worst_table(
    data: Trajectories, areas: dict[str, Floats], *, metric: str, level: Level | None, verdicts: pl.Series
) -> pl.DataFrame:
    """The frame `worst`: all chains, the worst first, those without a value last."""
    blank: Floats = np.full(data.chains.height, np.nan)
    last = _last(with_lost(data, metric)) if metric in data.values else blank
    better = data.facts[metric].better if metric in data.facts else "higher"
    frame = data.chains.select(*CHAIN).with_columns(
        pl.Series("auc", areas.get(metric, blank)),
        pl.Series("last", last),
        pl.Series("rounds", data.reached),
        pl.Series("half_life", _texts(level, data.chains.height), dtype=pl.String),
        verdicts.alias("verdict"),
        pl.Series("_badness", last if better == "higher" else -last),
    )
    ordered = clean(frame).sort("auc", "_badness", "editor", "case", nulls_last=True)
    return declared(ordered, OUTPUTS["worst"])


def _last(values: Floats) -> Floats:
    place = last_value(values)
    found = values[np.arange(place.size), place]
    return np.where(place > 0, found, np.nan)


def _texts(level: Level | None, chains: int) -> list[str | None]:
    if level is None:
        return [None] * chains
    cases = zip(level.cases.rounds, level.cases.passed, strict=True)
    return [str(rounds) if passed else f"> {rounds}" if rounds else None for rounds, passed in cases]
