"""The columns of every analysis frame, so that an empty result has the same columns as a full one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

T, F, N, B = pl.String, pl.Float64, pl.Int64, pl.Boolean

CHAIN: dict[str, type[pl.DataType]] = {"editor": T, "case": T, "source": T, "kind": T, "pair": T, "category": T}
INTERVAL: dict[str, type[pl.DataType]] = {"low": F, "high": F}
COUNTS: dict[str, type[pl.DataType]] = {"n_cases": N, "n_sources": N, "n_missing": N}
SERIES: dict[str, type[pl.DataType]] = {"editor": T, "metric": T, "group": T}

INPUTS: dict[str, dict[str, type[pl.DataType]]] = {
    "measurements": {
        **CHAIN,
        **{"replicate": N, "round": N, "step": N, "metric": T, "value": F, "status": T, "role": T, "in_view": F},
    },
    "chains": {
        **CHAIN,
        **{"replicate": N, "status": T, "detail": T, "rounds": N, "planned": N, "steps": N, "dollars": F, "seconds": F},
    },
}

MAY_LACK = frozenset({"role", "in_view"})
"""Optional input columns; empty if absent."""

OUTPUTS: dict[str, dict[str, type[pl.DataType]]] = {
    "ranking": {
        **{"rank": N, "rank_low": N, "rank_high": N, "editor": T, "simulated": B, "reference": T},
        **{"score": F, **INTERVAL, "values": T},
        **{"adherence": F, "done": F, "undone": F, "coverage": F, "usable_share": F},
        **{"closeness": F, "closeness_low": F, "closeness_high": F, "quality": F, "semantic": F, "half_life": T},
        **{"half_life_median": N, "half_life_low": N, "half_life_high": N, "half_life_events": N, "half_life_cases": N},
        **{"followed": N, "restricted_mean": F, "verdict": T, "usable": T, "n_cases": N, "n_sources": N},
        **{"n_left_out": N, "n_missing": N, "n_lost": N, "n_chains": N, "n_finished": N, "n_refused": N, "n_failed": N},
        **{"quality_rank": N, "quality_low": F, "quality_high": F},
        **{"semantic_rank": N, "semantic_low": F, "semantic_high": F},
    },
    "pairwise": {
        **{"better": T, "worse": T, "difference": F, **INTERVAL, "p": F, "p_holm": F, "significant": B},
        **{"n_cases": N, "n_sources": N, "exact": B, "rounds": N, "spread": F, "needed": N, "smallest_p": F},
    },
    "places": {"editor": T, "place": N, "share": F},
    "curves": {**SERIES, "round": N, "mean": F, **INTERVAL, **COUNTS, "n_lost": N, "averaging": T},
    "auc": {**SERIES, "auc": F, **INTERVAL, **COUNTS, "n_lost": N, "n_short": N},
    "half_life": {
        **{"editor": T, "metric": T, "level": T, "threshold": F, "group": T, "median": N, "low": N, "high": N},
        **{"text": T, "restricted_mean": F, "rounds": N, "n_cases": N, "n_events": N, "n_censored": N, "n_sources": N},
        **{"n_missing": N, "n_lost": N},
    },
    "half_life_cases": {
        **{"editor": T, "case": T, "metric": T, "level": T, "threshold": F, "rounds": N, "exact": F, "passed": B}
    },
    "survival": {
        **{"editor": T, "curve": T, "group": T, "round": N, "survival": F, **INTERVAL},
        **{"at_risk": N, "events": N, "censored": N},
    },
    "shapes": {
        **{"editor": T, "group": T, "shape": T, "aicc": F, "weight": F, "parameters": T, "best": B, "verdict": T},
        **{"n_rounds": N, **COUNTS},
    },
    "contraction": {
        **CHAIN,
        **{"verdict": T, "q": F, "q_low": F, "q_high": F, "period": N, "floor": F, "drift": F},
        **{"first_displacement": F, "last_displacement": F, "efficiency": F, "prior_bound": F, "posterior_bound": F},
        **{"radius": F, "rounds": N, "floor_from": T, "lag_growth": F, "pace": F},
    },
    "verdicts": {"editor": T, "verdict": T, "chains": N, "share": F, **INTERVAL, "median_q": F, "n_sources": N},
    "adherence": {
        **{"editor": T, "group": T, "metric": T, "leg": T, "mean": F, **INTERVAL, "share": F, **COUNTS, "n_readings": N}
    },
    "diagnostics": {"editor": T, "metric": T, "step": N, "mean": F, "n_cases": N, "n_missing": N},
    "worst": {**CHAIN, "auc": F, "last": F, "rounds": N, "half_life": T, "verdict": T},
    "floors": {"editor": T, "floor": T, "metric": T, "auc": F, "floor_auc": F, "excess": F, **INTERVAL, **COUNTS},
    "outcomes": {"editor": T, "status": T, "chains": N, "steps": N, "dollars": F, "seconds": F},
    "anchors": {"anchor": T, "metric": T, "mean": F, **INTERVAL, "area": F, "n_sources": N, "n_lost": N},
    "sensitivity": {
        **{"factor": T, "choice": T, "chosen": B, "order": T, "same_order": B, "same_leader": B, "changes": N},
        **{"largest_swap": F, "tau": F, "n_cases": N, "note": T},
    },
}


def table(name: str, rows: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """The output frame `name` from row mappings; NaN becomes None, infinity stays."""
    return clean(pl.DataFrame([dict(row) for row in rows], schema=OUTPUTS[name]))


def stacked(name: str, parts: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """The output frame `name` from parts whose entries are columns, or one value for all their rows."""
    # one frame of all rows: a frame for each of hundreds of parts takes most of the time of a small report's analysis
    columns: dict[str, list[object]] = {column: [] for column in OUTPUTS[name]}
    for part in parts:
        lists = {column: _listed(entry) for column, entry in part.items() if isinstance(entry, np.ndarray | pl.Series)}
        rows = len(next(iter(lists.values())))
        for column, values in columns.items():
            values += lists[column] if column in lists else [part[column]] * rows
    return clean(pl.DataFrame(columns, schema=OUTPUTS[name]))


def _listed(column: np.ndarray[Any, Any] | pl.Series) -> list[object]:
    return column.to_list() if isinstance(column, pl.Series) else column.tolist()


class AnalysisTables:
    """Base class of results: a dataclass whose frames are its tables, under the names of their fields."""

    __slots__ = ()

    def tables(self) -> dict[str, pl.DataFrame]:
        """Every frame among the fields."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in values.items() if isinstance(value, pl.DataFrame)}


def clean(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with None in place of NaN."""
    return frame.with_columns(cs.float().fill_nan(None))


def declared(frame: pl.DataFrame, columns: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    """The frame with these columns, types and order, and None in place of NaN."""
    return clean(frame.select(pl.col(column).cast(kind) for column, kind in columns.items()))
