"""The contraction reading of every chain, and its shares per editor.

The floor is the displacement that means nothing. For a deterministic editor it is 8-bit rounding. For a random one it
is the distance between replicates after round 1, the last at which they had the same input (rows `rmse-replicate`: each
replicate against replicate 0), their median, if above rounding. `floor_from` says which floor it was, and says so when
a random editor has no replicates; its noise ball is then still found by the growth over lags.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import polars as pl

from convergebench.analysis.contraction import TRUE_DISTANCES, VERDICTS, Path, Reader
from convergebench.analysis.result import AnalysisSettings
from convergebench.analysis.schemas import CHAIN, clean, table
from convergebench.analysis.trajectories import Floats, Trajectories

Floor = tuple[float, str]


def contraction_table(data: Trajectories, settings: AnalysisSettings, *, deterministic: frozenset[str]) -> pl.DataFrame:
    """The frame `contraction`, in the order of the chain table."""
    reader = Reader(settings.chain_draws, settings.seed, settings.confidence, settings.distance in TRUE_DISTANCES)
    floors = _floors(data, settings, deterministic)
    rows = []
    for chain, path, (floor, origin) in zip(
        data.chains.select(*CHAIN).iter_rows(named=True), _paths(data, settings), floors, strict=True
    ):
        seen = reader.read(path, floor, rounding=settings.floor)
        rows.append({**chain, **asdict(seen), "floor_from": origin})
    return table("contraction", rows)


def verdict_table(contraction: pl.DataFrame, editors: tuple[str, ...]) -> pl.DataFrame:
    """The frame `verdicts`: how many chains of each editor ended how."""
    rows = []
    for editor in editors:
        mine = contraction.filter(pl.col("editor") == editor)
        for verdict in VERDICTS:
            such = mine.filter(pl.col("verdict") == verdict)
            if such.height:
                rows.append(
                    {
                        **{"editor": editor, "verdict": verdict, "chains": such.height},
                        **{"share": such.height / mine.height, "median_q": such["q"].median()},
                    }
                )
    return clean(table("verdicts", rows))


def commonest(verdicts: list[str]) -> str | None:
    """The verdict most chains have; of equals, the first in the list of verdicts. None without chains."""
    return max(VERDICTS, key=verdicts.count) if verdicts else None


def _paths(data: Trajectories, settings: AnalysisSettings) -> Iterator[Path]:
    """Drift and lagged distances per chain; a lag that reaches back to the source is the drift itself."""
    blank: Floats = np.full((data.chains.height, data.horizon + 1), np.nan)
    drift = data.values.get(settings.distance, blank).copy()
    drift[:, 0] = 0.0
    lags = np.stack([data.values.get(f"{settings.distance}-lag{lag}", blank) for lag in _periods(settings)])
    for lag in _periods(settings):
        if lag <= data.horizon:
            row = lags[lag - 1]
            row[:, lag] = np.where(np.isnan(row[:, lag]), drift[:, lag], row[:, lag])
        lags[lag - 1, :, :lag] = np.nan
    for chain in range(data.chains.height):
        yield Path(drift[chain], lags[:, chain])


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
    apart = data.values.get(f"{distance}-replicate")
    if apart is None or data.horizon < 1:
        return {}
    found: dict[tuple[str, str, str], list[float]] = {}
    names = data.chains.select("editor", "source", "pair").iter_rows()
    for name, value in zip(names, apart[:, 1], strict=True):
        if not np.isnan(value):
            found.setdefault(name, []).append(float(value))
    return {name: float(np.median(values)) for name, values in found.items()}
