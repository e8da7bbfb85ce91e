"""The input of a report: the analysis, the tables behind it, and the facts of the run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from convergebench.analysis.decay_result import DecayAnalysis
from convergebench.analysis.result import Analysis
from convergebench.metrics.base import MetricFacts
from convergebench.report.wording import middle
from convergebench.studies.base import BaseStudy, study_of
from convergebench.studies.units import Unit

Row = dict[str, Any]
"""One row of a frame."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ReportInput:
    """Everything a report needs except the images, which are read from `run`.

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
    """Editors that ignore the instruction."""
    results: Mapping[str, Any] = field(default_factory=dict)
    """Results of the study's other analyses by name: `decay`, and those of third parties."""
    sections: tuple[str, ...] = ()
    """The sections of the page, in order; empty: those that the study declares."""
    notes: tuple[str, ...] = ()
    """One line for each analysis that could not be made, with the reason."""
    spending: pl.DataFrame = field(default_factory=pl.DataFrame)
    """editor (or `role:NAME`), calls, dollars, unknown_calls, unknown_dollars: every call, also of failed steps."""

    def result(self, kind: type[Result]) -> Result | None:
        """The result of this type; None if its analysis was not run."""
        return next((found for found in self.results.values() if isinstance(found, kind)), None)

    @property
    def decay(self) -> DecayAnalysis | None:
        """Onsets, failures, noticing and variants, if the run was analysed for them."""
        return self.result(DecayAnalysis)

    @property
    def study(self) -> type[BaseStudy]:
        """The study of the run, which declares its unit, analyses and sections."""
        return study_of(str(self.manifest.get("study") or "roundtrip"))

    @property
    def unit(self) -> Unit:
        """The unit of the run: round trips or steps."""
        return self.study.unit

    @property
    def marks(self) -> dict[str, list[tuple[str, str]]]:
        """Marks beside an editor's name: (word, anchor of its explanation)."""
        found: dict[str, list[tuple[str, str]]] = {}
        for names, word, anchor in (
            (self.simulated, "simulated", "simulated"),
            (self.uninstructed, "ignores words", "copies"),
        ):
            for name in sorted(names):
                found.setdefault(name, []).append((word, anchor))
        return found

    def marked(self, name: str, most: int = 1000) -> str:
        """`taesd (ignores words)`: the name, cut to `most` letters, with its marks, as plain text."""
        words = ", ".join(word for word, _ in self.marks.get(name, []))
        return middle(name, most) + (f" ({words})" if words else "")

    @property
    def editors(self) -> list[str]:
        """Every requested editor, in the manifest's order, then any that are only in the tables."""
        named = [str(entry["name"]) for entry in self.manifest.get("editors", [])]
        seen = self.chains["editor"].unique(maintain_order=True).to_list() if self.chains.height else []
        return list(dict.fromkeys([*named, *seen]))

    @property
    def not_run(self) -> list[str]:
        """Requested editors without a chain."""
        ran = set(self.chains["editor"].to_list()) if self.chains.height else set()
        return [editor for editor in self.editors if editor not in ran]

    @property
    def ranked(self) -> list[Row]:
        """The ranking's rows, best first; rows without a score come last."""
        rows = self.analysis.ranking.to_dicts()
        return sorted(rows, key=lambda row: (row["rank"] is None, row["rank"] or 0))

    @property
    def onset_metric(self) -> str:
        """The metric of the onsets."""
        known = self.decay.onsets["metric"] if self.decay is not None else None
        return str(known[0]) if known is not None and known.len() else self.headline_metric

    @property
    def headline_metric(self) -> str:
        """The metric of the half-life sentence."""
        return self.analysis.settings.headline


def closing_steps(given: ReportInput) -> pl.DataFrame:
    """editor, case, round, index of the step that ends each whole round, where every edit has been undone."""
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


def metric_order(given: ReportInput, names: Sequence[str]) -> list[str]:
    """The headline metric first, then quality, then semantic, then in the order of `facts`, lags last."""
    settings = given.analysis.settings
    first = [settings.headline, *settings.quality, *([settings.semantic] if settings.semantic else []), *given.facts]
    place = {name: number for number, name in reversed(list(enumerate(first)))}
    return sorted(dict.fromkeys(names), key=lambda name: (place.get(name, len(first)), name))


def by_chain(frame: pl.DataFrame) -> dict[tuple[str, str], list[Row]]:
    """The rows of each (editor, case)."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        found[row["editor"], row["case"]].append(row)
    return found
