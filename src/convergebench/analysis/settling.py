"""The contraction verdict on every chain, and the shares of verdicts per editor.

The floor is the displacement that means nothing. For a deterministic editor it is 8-bit rounding. For a random one it
is the median distance between replicates after round 1, the last with equal input (rows `rmse-replicate`: each
replicate against replicate 0), if that is above rounding. `floor_from` says which floor was used, and whether a random
editor has no replicates. The floor applies only to the steps of a cycle; return and rest are compared with rounding,
and noise is part of the fit of q.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import Bootstrap, by_source
from convergebench.analysis.contraction import TRUE_DISTANCES, VERDICTS, SettlingRules
from convergebench.analysis.lags import ChainDistances
from convergebench.analysis.schemas import CHAIN, table
from convergebench.analysis.series import Series
from convergebench.analysis.trajectories import Floats, Mask, Trajectories
from convergebench.studies.analysis_settings import AnalysisSettings

Floor = tuple[float, str]

LEAST_FLATTERING = ("diverges", "drifts", "cycles", "unknown", "too early", "settles", "returns")
"""Which verdict wins a tie: a bad one before an undecided one, and that before a good one."""


def contraction_table(data: Trajectories, settings: AnalysisSettings, *, deterministic: frozenset[str]) -> pl.DataFrame:
    """The frame `contraction`, in the order of the chain table."""
    reader = SettlingRules(settings.confidence, settings.settling_rounds, bounds=settings.distance in TRUE_DISTANCES)
    floors = _floors(data, settings, deterministic)
    none: Mask = np.zeros((data.chains.height, 1), dtype=np.bool_)
    lost = [bool(row.any()) for row in data.lost.get(settings.distance, none)]
    rows = []
    for chain, path, (floor, origin), gone in zip(
        data.chains.select(*CHAIN).iter_rows(named=True), _paths(data, settings), floors, lost, strict=True
    ):
        seen = reader.read(path, floor, rounding=settings.floor, lost=gone)
        rows.append({**chain, **asdict(seen), "floor_from": origin})
    return table("contraction", rows)


def verdict_table(contraction: pl.DataFrame, editors: tuple[str, ...], bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `verdicts`: how many chains of each editor ended how, with an interval over source images."""
    rows = []
    for editor in editors:
        mine = contraction.filter(pl.col("editor") == editor)
        if not mine.height:
            continue
        hits = np.array([[float(one == verdict) for verdict in VERDICTS] for one in mine["verdict"]])
        sources = mine["source"].rank("dense").to_numpy().astype(np.int64)
        band = bootstrap.share(*by_source(hits, sources))
        for place, verdict in enumerate(VERDICTS):
            such = mine.filter(pl.col("verdict") == verdict)
            if such.height:
                rows.append(
                    {
                        **{"editor": editor, "verdict": verdict, "chains": such.height},
                        **{"share": such.height / mine.height, "low": band.low[place], "high": band.high[place]},
                        **{"median_q": such["q"].median(), "n_sources": mine["source"].n_unique()},
                    }
                )
    return table("verdicts", rows)


def commonest(verdicts: list[str]) -> str | None:
    """The most frequent verdict; in a tie the least flattering. None without chains."""
    return max(LEAST_FLATTERING, key=verdicts.count) if verdicts else None


def _paths(data: Trajectories, settings: AnalysisSettings) -> Iterator[ChainDistances]:
    """Drift and lagged distances per chain; a lag that reaches back to the source is the drift itself."""
    blank: Floats = np.full((data.chains.height, data.horizon + 1), np.nan)
    drift = data.values.get(settings.distance, blank).copy()
    drift[:, 0] = 0.0
    lags = np.stack([data.values.get(Series(settings.distance, "lag", lag).name, blank) for lag in _periods(settings)])
    for lag in _periods(settings):
        if lag <= data.horizon:
            row = lags[lag - 1]
            row[:, lag] = np.where(np.isnan(row[:, lag]), drift[:, lag], row[:, lag])
        lags[lag - 1, :, :lag] = np.nan
    for chain in range(data.chains.height):
        yield ChainDistances(drift[chain], lags[:, chain])


def _periods(settings: AnalysisSettings) -> range:
    return range(1, max(1, settings.max_period) + 1)


def _floors(data: Trajectories, settings: AnalysisSettings, deterministic: frozenset[str]) -> list[Floor]:
    spreads = _replicate_spreads(data, settings.distance)
    floors = []
    for editor, source, pair in data.chains.select("editor", "source", "pair").iter_rows():
        spread = spreads.get((editor, source, pair))
        if editor in deterministic:
            floors.append((settings.floor, "rounding"))
        elif spread is None:
            floors.append((settings.floor, "rounding (no replicates)"))
        else:
            floors.append((max(settings.floor, spread), "replicates"))
    return floors


def _replicate_spreads(data: Trajectories, distance: str) -> dict[tuple[str, str, str], float]:
    """Median distance between replicates after round 1, per editor, source and pair that have any."""
    apart = data.values.get(Series(distance, "replicate").name)
    if apart is None or data.horizon < 1:
        return {}
    found: dict[tuple[str, str, str], list[float]] = {}
    names = data.chains.select("editor", "source", "pair").iter_rows()
    for name, value in zip(names, apart[:, 1], strict=True):
        if not np.isnan(value):
            found.setdefault(name, []).append(float(value))
    return {name: float(np.median(values)) for name, values in found.items()}
