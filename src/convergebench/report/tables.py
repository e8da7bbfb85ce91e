"""Every table as CSV and Parquet, for whoever wants to draw something else."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import polars as pl

from convergebench.analysis.replicate import ReplicateAnalysis
from convergebench.analysis.result import Analysis
from convergebench.reasoning import rounds, sections
from convergebench.report.files import make_whole
from convergebench.report.input import ReportInput
from convergebench.sheets import write_frame

MEASUREMENT_COLUMNS = (
    "editor",
    "case",
    "source",
    "kind",
    "pair",
    "category",
    "replicate",
    "round",
    "step",
    "metric",
    "value",
    "status",
)
"""The first columns of `measurements`, in this order, for ever."""


def write_tables(given: ReportInput, out_dir: Path) -> list[Path]:
    """Write `measurements`, `chains`, `steps` and every frame of the analysis, each as .csv and .parquet.

    A replicate run has frames of its own besides. A missing value is an empty cell beside its status; infinities stay
    infinite.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    extra = [name for name in given.measurements.columns if name not in MEASUREMENT_COLUMNS]
    frames = {
        "measurements": given.measurements.select(*MEASUREMENT_COLUMNS, *extra) if given.measurements.width else None,
        "chains": given.chains,
        "steps": given.steps,
        "reasoning": reasoning_table(given.steps),
        **analysis_frames(given.analysis),
        **(analysis_frames(given.replicate) if given.replicate else {}),
    }
    written = []
    for name, frame in frames.items():
        if frame is not None:
            written += _write(frame, out_dir / name)
    return written


REASONING = {
    "editor": pl.String, "case": pl.String, "index": pl.Int64, "section": pl.Int64, "title": pl.String,
    "text": pl.String, "phase": pl.String, "rounds": pl.Int64,
}  # fmt: skip
"""`rounds`: how often the model made a picture within the call, as its summary tells."""


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


def analysis_frames(analysis: Analysis | ReplicateAnalysis) -> dict[str, pl.DataFrame]:
    """The analysis' frames by name."""
    values = {field.name: getattr(analysis, field.name) for field in fields(analysis)}
    return {name: value for name, value in values.items() if isinstance(value, pl.DataFrame)}


def _write(frame: pl.DataFrame, stem: Path) -> list[Path]:
    csv, parquet = stem.with_name(f"{stem.name}.csv"), stem.with_name(f"{stem.name}.parquet")
    make_whole(csv, lambda part: write_frame(frame, part))
    make_whole(parquet, frame.write_parquet)
    return [csv, parquet]
