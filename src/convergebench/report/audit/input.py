"""The input of the pages, tables and plots of an audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convergebench.analysis.audit.result import AuditAnalysis, AuditInput
from convergebench.store.images import open_images

PictureKey = tuple[str, str, str, int]
"""Run, editor, case (as in the frames, so different for repeats and pairs) and `at`."""


@dataclass(frozen=True, slots=True)
class AuditReportInput:
    """An audit with the paths of its pictures and how it was made."""

    audit: AuditAnalysis
    given: AuditInput
    runs: Mapping[str, Path]
    """Name of a run, as in the frames' column `run` → its directory."""
    pictures: Mapping[PictureKey, str] = field(default_factory=dict)
    """Path of a picture, relative to its run's directory; `at` 0 is the untouched one."""
    simulated: frozenset[str] = frozenset()
    """Simulated editors; they have a badge wherever they are named."""
    made: Mapping[str, Any] = field(default_factory=dict)
    """How it was made, for the end of the page: `title`, `command`, `date`, `version`, and under `runs` the facts of
    each run's manifest."""

    def picture(self, run: str, editor: str, case: str, at: int) -> Path | None:
        """The file of one picture, if it exists."""
        where = self.pictures.get((run, editor, case, at))
        folder = self.runs.get(run)
        if where is None or folder is None:
            return None
        return folder / where if open_images(folder).has(where) else None

    def read(self, path: Path) -> bytes | None:
        """The bytes of a picture of one of the runs; None if they cannot be read."""
        folder = next((one for one in self.runs.values() if path.is_relative_to(one)), None)
        return open_images(folder).view(path.relative_to(folder).as_posix()) if folder else None
