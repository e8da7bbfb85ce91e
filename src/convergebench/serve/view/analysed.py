"""What a report has already computed, read from the run's `tables` folder; nothing is computed here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from convergebench.errors import StudyError
from convergebench.images.cells import require_small
from convergebench.images.parquet_bounds import require_plausible_size
from convergebench.images.table_errors import table_errors

MOST_BYTES = 256 * 2**20
"""Largest table that is read."""
_CHAINS = {
    "editor": pl.String, "case": pl.String, "status": pl.String, "steps": pl.Int64, "verdict": pl.String,
    "auc": pl.Float64, "last": pl.Float64, "half_life": pl.String,
}  # fmt: skip
_CURVES = {
    "editor": pl.String, "metric": pl.String, "group": pl.String, "round": pl.Int64, "mean": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n_cases": pl.Int64,
}  # fmt: skip
_BOUNDS = {"q": pl.Float64, "drift": pl.Float64, "prior_bound": pl.Float64, "posterior_bound": pl.Float64}


@dataclass(frozen=True)
class AnalysedTables:
    """Per chain and per curve; without rows where there is no report, or where a file is damaged."""

    chains: pl.DataFrame
    """Verdict, auc, last and half_life, with the status and steps of the chain when it was analysed."""
    curves: pl.DataFrame
    contraction: pl.DataFrame
    """Per chain q, drift and the bounds."""


def read_analysed(root: Path) -> AnalysedTables:
    """The tables of a run's last report."""
    names = ["editor", "case"]
    chains = _read(root, "chains", {name: _CHAINS[name] for name in (*names, "status", "steps")})
    worst = _read(root, "worst", {name: _CHAINS[name] for name in (*names, "auc", "last", "half_life")})
    settled = _read(root, "contraction", {**{name: _CHAINS[name] for name in (*names, "verdict")}, **_BOUNDS})
    joined = chains.join(worst.unique(names), on=names, how="left")
    joined = joined.join(settled.unique(names).select(*names, "verdict"), on=names, how="left")
    return AnalysedTables(joined.unique(names).select(list(_CHAINS)), _read(root, "curves", _CURVES), settled)


def _read(root: Path, name: str, columns: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    """A table with these columns; an empty one where it cannot be read."""
    empty = pl.DataFrame(schema=columns)
    path = root / "tables" / f"{name}.parquet"
    try:
        if not path.resolve().is_relative_to(root.resolve()) or not path.is_file():
            return empty
        if path.stat().st_size > MOST_BYTES:
            return empty
        with table_errors(path):
            require_plausible_size(path, list(columns))
            frame = require_small(pl.read_parquet(path, columns=list(columns)), path.name)
            return frame.select(pl.col(one).cast(kind) for one, kind in columns.items())
    except (OSError, StudyError, ValueError, TypeError):
        return empty
