"""Every frame of an audit as CSV and Parquet, and its scores, for whoever wants to draw something else."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl

from convergebench.analysis.audit.result import frame_names
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.files import make_whole
from convergebench.sheets import write_frame


def audit_frames(given: AuditReportInput) -> dict[str, pl.DataFrame]:
    """The frames by name: what was found, then what it was found from."""
    found = {name: getattr(given.audit, name) for name in frame_names()}
    return {**found, "scores": given.given.scores, "damage": given.given.damage, "chains": given.given.chains}


def write_audit_tables(given: AuditReportInput, out_dir: Path) -> list[Path]:
    """Write every frame as .csv and .parquet; a missing value is an empty cell, infinities stay infinite."""
    out_dir.mkdir(parents=True, exist_ok=True)
    written = []
    for name, frame in audit_frames(given).items():
        sheet, parquet = out_dir / f"{name}.csv", out_dir / f"{name}.parquet"
        make_whole(sheet, partial(write_frame, frame))
        make_whole(parquet, frame.write_parquet)
        written += [sheet, parquet]
    return written
