"""Every table as CSV and Parquet."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis.schemas import CHAIN
from convergebench.reasoning import rounds, sections
from convergebench.report.input import ReportInput
from convergebench.report.output import make_whole
from convergebench.sheets import write_frame

MEASUREMENT_COLUMNS = (*CHAIN, "replicate", "round", "step", "metric", "value", "status")
"""The first columns of `measurements`; this order never changes."""


def write_tables(given: ReportInput, out_dir: Path) -> list[Path]:
    """Write `measurements`, `chains`, `steps` and every frame of the analysis, each as .csv and .parquet.

    Other analyses of the study add their own frames. A missing value is an empty cell beside its status; infinities
    stay infinite.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    extra = [name for name in given.measurements.columns if name not in MEASUREMENT_COLUMNS]
    frames = {
        "measurements": given.measurements.select(*MEASUREMENT_COLUMNS, *extra) if given.measurements.width else None,
        "chains": given.chains,
        "steps": given.steps,
        "reasoning": reasoning_table(given.steps),
        **result_frames(given.analysis),
        **{name: frame for result in given.results.values() for name, frame in result_frames(result).items()},
    }
    written = []
    for name, frame in frames.items():
        if frame is not None:
            written += write_table(frame, out_dir / name)
    return written


REASONING = {
    "editor": pl.String, "case": pl.String, "index": pl.Int64, "section": pl.Int64, "title": pl.String,
    "text": pl.String, "phase": pl.String, "rounds": pl.Int64,
}  # fmt: skip
"""`rounds`: how often the model made a picture within the call, according to its summary."""


def reasoning_table(steps: pl.DataFrame) -> pl.DataFrame | None:
    """One row per titled section of every step's summary; None if no editor gave one."""
    if "reasoning" not in steps.columns:
        return None
    rows = []
    for editor, case, index, summary in steps.select("editor", "case", "index", "reasoning").iter_rows():
        parts = sections(summary)
        made = rounds(parts)
        rows += [
            (editor, case, index, number, part.title, part.text, part.phase, made)
            for number, part in enumerate(parts, 1)
        ]
    return pl.DataFrame(rows, schema=REASONING, orient="row") if rows else None


def result_frames(result: Any) -> dict[str, pl.DataFrame]:
    """The frames of an analysis by name: those of its `tables()`, or else its fields."""
    if hasattr(result, "tables"):
        return dict(result.tables())
    values = {one.name: getattr(result, one.name) for one in fields(result)}
    return {name: value for name, value in values.items() if isinstance(value, pl.DataFrame)}


def write_table(frame: pl.DataFrame, stem: Path) -> list[Path]:
    """The frame as `STEM.csv` and `STEM.parquet`."""
    csv, parquet = stem.with_name(f"{stem.name}.csv"), stem.with_name(f"{stem.name}.parquet")
    make_whole(csv, lambda part: write_frame(frame, part))
    make_whole(parquet, frame.write_parquet)
    return [csv, parquet]
