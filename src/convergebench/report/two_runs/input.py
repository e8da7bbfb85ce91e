"""What a comparison of two runs shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis.run_change import RunChange
from convergebench.metrics.base import MetricFacts
from convergebench.report.hero import round_ends
from convergebench.report.input import Row
from convergebench.store.manifest import Manifest
from convergebench.studies.analysis_settings import AnalysisSettings
from convergebench.studies.units import Unit


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One of the two runs: where it is, how it was made, its pictures."""

    root: Path
    manifest: Manifest
    steps: pl.DataFrame
    """As in `ReportInput`."""

    def picture(self, editor: str, case: str, round_: int) -> str | None:
        """The file of the picture that ends a round (0: the source), relative to the run."""
        rows = self.steps.filter(pl.col("editor") == editor, pl.col("case") == case).to_dicts()
        found = round_ends(rows, round_).get(round_)
        return None if found is None else str(found["image"])

    def last_picture(self, editor: str, case: str, rounds: int) -> tuple[int, str] | None:
        """The last round up to this one that has a picture, and its file."""
        rows = self.steps.filter(pl.col("editor") == editor, pl.col("case") == case).to_dicts()
        found = round_ends(rows, rounds)
        return (last, str(found[last]["image"])) if (last := max(found, default=0)) else None

    def fingerprint(self, editor: str) -> str:
        """Of one of its editors."""
        return str(self.manifest.editors.get(editor, {}).get("fingerprint", "unknown"))


@dataclass(frozen=True, slots=True)
class TwoRunsInput:
    """Everything but the pixels, which are read from the two runs."""

    first: ComparedRun
    second: ComparedRun
    change: RunChange
    settings: AnalysisSettings
    warnings: tuple[str, ...]
    """What else differs between the runs and makes the comparison less fair."""
    unit: Unit
    facts: Mapping[str, MetricFacts]
    simulated: frozenset[str]

    @property
    def names(self) -> tuple[str, str]:
        """What to call the two runs: their folders' names, or whole paths where these are the same."""
        short = self.first.root.resolve().name, self.second.root.resolve().name
        return short if short[0] != short[1] else (str(self.first.root), str(self.second.root))

    def same_model(self, row: Row) -> bool:
        """Whether both editors have one fingerprint: then only chance or the provider made the difference."""
        ones = self.first.fingerprint(row["editor_first"]), self.second.fingerprint(row["editor_second"])
        return ones[0] == ones[1] != "unknown"


def pair_name(row: Mapping[str, Any]) -> str:
    """`model`, or `model-a → model-b` for two names."""
    one, other = str(row["editor_first"]), str(row["editor_second"])
    return one if one == other else f"{one} → {other}"
