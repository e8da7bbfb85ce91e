"""What the pages, tables and plots of an audit are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convergebench.analysis.audit.result import AuditAnalysis, AuditInput

PictureKey = tuple[str, str, str, int]
"""Run, editor, case, `at`: the case is the one of the frames, so it tells repeats and pairs apart."""


@dataclass(frozen=True, slots=True)
class AuditReportInput:
    """An audit with where its pictures lie and how it was made."""

    audit: AuditAnalysis
    given: AuditInput
    runs: Mapping[str, Path]
    """Name of a run, as in the frames' column `run` → its directory."""
    pictures: Mapping[PictureKey, str] = field(default_factory=dict)
    """Where a picture lies, relative to its run's directory; 0 is the untouched one."""
    simulated: frozenset[str] = frozenset()
    """Editors that only play a part; they carry a badge wherever they are named."""
    made: Mapping[str, Any] = field(default_factory=dict)
    """How it was made, for the foot of the page: `title`, `command`, `date`, `version`, and under `runs` the facts of
    each run's manifest."""

    def picture(self, run: str, editor: str, case: str, at: int) -> Path | None:
        """The file of one picture, if it is there."""
        where = self.pictures.get((run, editor, case, at))
        folder = self.runs.get(run)
        if where is None or folder is None:
            return None
        found = folder / where
        return found if found.is_file() else None
