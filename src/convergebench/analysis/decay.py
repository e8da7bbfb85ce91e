"""How chains fall apart: everything a run of copies says beside the curves, put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from convergebench.analysis.agreement import agreement_table
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.failures import ModeFacts, failures_table, labels_table
from convergebench.analysis.noticing import noticing, noticing_summary
from convergebench.analysis.onset import onset_summary, onsets
from convergebench.analysis.replicate import ReplicateAnalysis
from convergebench.analysis.result import AnalysisInput, AnalysisSettings
from convergebench.analysis.variants import success_table, variant_table
from convergebench.metrics.base import MetricFacts

FIRST = "-first"
"""Added to the name of a metric whose values are held against step 1 instead of the source."""


def with_step_1(facts: Mapping[str, MetricFacts], measured: set[str]) -> dict[str, MetricFacts]:
    """The facts of all metrics, and of those that were also measured against step 1, under their own names."""
    more = {
        f"{name}{FIRST}": replace(
            one, name=f"{name}{FIRST}", summary=f"{one.summary} (against step 1)", dimension="none"
        )
        for name, one in facts.items()
        if f"{name}{FIRST}" in measured
    }
    return {**facts, **more}


def comparable(pairs: Mapping[str, Mapping[str, Any]], chains: pl.DataFrame) -> pl.DataFrame:
    """The chains whose every step should show the source, made one from the other: what editors are ranked by.

    Additions and sessions change the picture for good, reconstructions show the source only now and then, independent
    runs do not accumulate. If a run has none of these, its additions and sessions are taken.
    """
    apart = [
        label for label, pair in pairs.items() if pair.get("independent") or pair.get("compared", "whole") != "whole"
    ]
    kept = chains.filter(~pl.col("pair").is_in(apart)) if chains.height else chains
    if kept.height:
        return kept
    around = [label for label in apart if pairs[label].get("compared") == "around"]
    return chains.filter(pl.col("pair").is_in(around)) if chains.height else chains


def _short(chains: pl.DataFrame) -> set[tuple[str, str]]:
    """(editor, case) of the chains that did not come to their end."""
    return set(chains.filter(pl.col("rounds") < pl.col("planned")).select("editor", "case").iter_rows())


def analyse_decay(
    given: AnalysisInput,
    labels: pl.DataFrame,
    pairs: Mapping[str, Mapping[str, Any]],
    modes: Mapping[str, ModeFacts],
    settings: AnalysisSettings,
) -> ReplicateAnalysis:
    """Every frame; those that nothing is known for are empty."""
    measured = set(given.measurements["metric"].unique()) if given.measurements.height else set()
    metric = settings.onset or next(
        (name for name in (f"{settings.headline}{FIRST}", settings.headline) if name in measured), ""
    )
    bootstrap = Bootstrap.of(settings)
    empty = ReplicateAnalysis.empty()
    found = (
        onsets(given.measurements, comparable(pairs, given.chains), metric, given.facts) if metric in measured else None
    )
    noticed = noticing(given.measurements, given.chains)
    return ReplicateAnalysis(
        onsets=empty.onsets if found is None else found,
        onset_summary=empty.onset_summary if found is None else onset_summary(found, confidence=settings.confidence),
        failures=failures_table(labels, modes, short=_short(given.chains), confidence=settings.confidence),
        labels=labels_table(labels, modes),
        agreement=agreement_table(labels),
        noticing=noticed,
        noticing_summary=noticing_summary(
            noticed, empty.onsets if found is None else found, confidence=settings.confidence
        ),
        variants=variant_table(
            given.measurements, given.chains, pairs, given.facts, points=settings.points, bootstrap=bootstrap
        ),
        success=success_table(given.measurements, pairs, bootstrap=bootstrap),
    )
