"""What the report draws: the analysis, the tables it came from, and the facts of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis.replicate import ReplicateAnalysis
from convergebench.analysis.result import Analysis
from convergebench.analysis.units import Unit, unit_of
from convergebench.metrics.base import MetricFacts
from convergebench.report.wording import middle

Row = dict[str, Any]
"""One row of a frame."""


@dataclass(frozen=True, slots=True)
class ReportInput:
    """Everything a report needs; nothing else is read but the images under `run`.

    `measurements` and `chains` are as in `AnalysisInput`. `steps`: editor, case, source, kind, pair, category,
    replicate, index (0 = the source itself), round, leg (source, forward, backward), instruction, image (relative to
    `run`), width, height, seconds, dollars, attempts, status, detail.
    """

    analysis: Analysis
    measurements: pl.DataFrame
    chains: pl.DataFrame
    steps: pl.DataFrame
    manifest: Mapping[str, Any]
    run: Path
    facts: Mapping[str, MetricFacts]
    simulated: frozenset[str]
    uninstructed: frozenset[str] = frozenset()
    """Editors that do the same whatever the words say."""
    replicate: ReplicateAnalysis | None = None
    """Onsets, failures, noticing and variants, where the run is of that study."""
    spending: pl.DataFrame = field(default_factory=pl.DataFrame)
    """editor (or `role:NAME`), calls, dollars, unknown_calls, unknown_dollars: every call, also of failed steps."""

    @property
    def unit(self) -> Unit:
        """What the run counts: round trips or steps."""
        return unit_of(str(self.manifest.get("study") or "roundtrip"))

    @property
    def marks(self) -> dict[str, list[tuple[str, str]]]:
        """What stands beside an editor's name: (word, where the page explains it)."""
        found: dict[str, list[tuple[str, str]]] = {}
        for names, word, anchor in (
            (self.simulated, "simulated", "simulated"),
            (self.uninstructed, "ignores words", "copies"),
        ):
            for name in sorted(names):
                found.setdefault(name, []).append((word, anchor))
        return found

    def marked(self, name: str, most: int = 1000) -> str:
        """`taesd (ignores words)`: the name, cut to so many letters, with its marks, where nothing can be linked."""
        words = ", ".join(word for word, _ in self.marks.get(name, []))
        return middle(name, most) + (f" ({words})" if words else "")

    @property
    def editors(self) -> list[str]:
        """Every editor asked for, in the manifest's order, then any that only the tables know."""
        named = [str(entry["name"]) for entry in self.manifest.get("editors", [])]
        seen = self.chains["editor"].unique(maintain_order=True).to_list() if self.chains.height else []
        return list(dict.fromkeys([*named, *seen]))

    @property
    def not_run(self) -> list[str]:
        """Editors the run was asked for that have no chain."""
        ran = set(self.chains["editor"].to_list()) if self.chains.height else set()
        return [editor for editor in self.editors if editor not in ran]

    @property
    def ranked(self) -> list[Row]:
        """The ranking's rows, best first; rows without a score come last."""
        rows = self.analysis.ranking.to_dicts()
        return sorted(rows, key=lambda row: (row["rank"] is None, row["rank"] or 0))

    @property
    def onset_metric(self) -> str:
        """The metric whose curves show where decay begins."""
        known = self.replicate.onsets["metric"] if self.replicate is not None else None
        return str(known[0]) if known is not None and known.len() else self.headline_metric

    @property
    def headline_metric(self) -> str:
        """The metric of the half-life sentence."""
        return self.analysis.settings.headline


def closing_steps(given: ReportInput) -> pl.DataFrame:
    """editor, case, round, index of the step that ends each whole round; only there has everything been undone."""
    whole = given.chains.select("editor", "case", pl.col("rounds").alias("whole"))
    done = given.steps.join(whole, on=["editor", "case"]).filter(
        pl.col("index") > 0, pl.col("round") <= pl.col("whole")
    )
    return done.group_by("editor", "case", "round").agg(pl.col("index").max())


def rows(frame: pl.DataFrame, **equal: object) -> list[Row]:
    """The rows of a frame whose columns equal these values; none if the frame is empty."""
    if frame.height == 0:
        return []
    return frame.filter(**equal).to_dicts() if equal else frame.to_dicts()
