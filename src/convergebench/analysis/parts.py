"""An analysis part: a callable from the tables of a run to a dataclass of frames. A study names its parts.

Built-in parts are listed in `convergebench.analysis._table`; others are found by an entry point of the group
`convergebench.analyses`, or as `module:name`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import polars as pl

from convergebench.analysis.anchors import anchor_table
from convergebench.analysis.decay import analyse_decay, comparable
from convergebench.analysis.decay_result import DecayAnalysis
from convergebench.analysis.failures import ModeFacts
from convergebench.analysis.findings import analyse, rank_only
from convergebench.analysis.result import Analysis, AnalysisInput
from convergebench.analysis.sensitivity import common_rounds, sensitivity
from convergebench.studies.analysis_settings import AnalysisSettings


@dataclass(frozen=True, slots=True)
class AnalysisContext(AnalysisInput):
    """Input of a part: all tables of a run, its settings, and the results of earlier parts.

    `steps`, `answers`, `decisions`, `ratings`, `labels`, `anchors` and `spending` are frames of
    `convergebench.store.frames.RunFrames`.
    """

    settings: AnalysisSettings = field(default_factory=AnalysisSettings)
    steps: pl.DataFrame = field(default_factory=pl.DataFrame)
    answers: pl.DataFrame = field(default_factory=pl.DataFrame)
    """The roles' answers to the study's questions."""
    decisions: pl.DataFrame = field(default_factory=pl.DataFrame)
    """What the study decided inside its chains."""
    ratings: pl.DataFrame = field(default_factory=pl.DataFrame)
    """People's and models' ratings of single pictures."""
    labels: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Failures that rules, judges and people saw or did not see."""
    anchors: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Measurements of noise, of grey and of another source."""
    spending: pl.DataFrame = field(default_factory=pl.DataFrame)
    align: str = "auto"
    aligned: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Every other alignment that the run was measured under → its measurements."""
    pairs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Label of a case → its instructions, as in the study's `edits`."""
    modes: Mapping[str, ModeFacts] = field(default_factory=dict)
    """Facts of each failure mode among the labels."""
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Id of an image → what the manifest says of it, such as the clean image that it is a degraded copy of."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    """The study file of the run."""
    results: Mapping[str, Any] = field(default_factory=dict)
    """Name of an earlier part → its result."""


class AnalysisResult(Protocol):
    """Result of a part; `AnalysisTables` is a base class that needs only fields.

    It may also have `headline`: sentences for the top of the page where the study has no ranking.
    """

    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Name of a table → the table; written as CSV and Parquet and shown on the page."""
        ...


class AnalysisPart(Protocol):
    """Computes frames from frames; opens no file and no image."""

    def __call__(self, run: AnalysisContext, /) -> AnalysisResult:
        """The result for this run; a run without measurements has tables without rows."""
        ...


def comparison(run: AnalysisContext) -> Analysis:
    """Curves, scores, half-lives, settling and the ranking of the editors, and what the ranking depends on."""
    chains = comparable(run.pairs, run.chains)
    kept = chains.select("editor", "case")
    own, *others = (
        rows.join(kept, on=["editor", "case"], how="semi") for rows in (run.measurements, *run.aligned.values())
    )
    given = replace(run, measurements=own, chains=chains)
    found = analyse(given, run.settings)
    editors = found.ranking.filter(pl.col("rank").is_not_null())["editor"].to_list()
    rounds = common_rounds(chains, editors or found.ranking["editor"].to_list())
    aligned = {mode: replace(given, measurements=rows) for mode, rows in zip(run.aligned, others, strict=True)}
    return replace(
        found,
        anchors=anchor_table(run.anchors, run.facts, run.settings, rounds=rounds),
        sensitivity=sensitivity(given, run.settings, rank_only, aligned, align=run.align),
    )


def decay(run: AnalysisContext) -> DecayAnalysis:
    """When chains break, how they fail, whether the editor notices, and which variants help."""
    return analyse_decay(run, run.labels, run.pairs, run.modes, run.settings)
