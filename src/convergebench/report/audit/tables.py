"""Every frame of an audit, and its scores, as CSV and Parquet."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from convergebench.analysis.audit.result import frame_names
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.tables import write_table


def audit_frames(given: AuditReportInput) -> dict[str, pl.DataFrame]:
    """The frames by name: the results, then the inputs."""
    found = {name: getattr(given.audit, name) for name in frame_names()}
    return {**found, "scores": given.given.scores, "damage": given.given.damage, "chains": given.given.chains}


def write_audit_tables(given: AuditReportInput, out_dir: Path) -> list[Path]:
    """Write every frame as .csv and .parquet; a missing value is an empty cell, infinities stay infinite."""
    out_dir.mkdir(parents=True, exist_ok=True)
    return [path for name, frame in audit_frames(given).items() for path in write_table(frame, out_dir / name)]
