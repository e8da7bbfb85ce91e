"""The analysis part `decay`: onsets, failures, noticing and variants of a run of copies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from convergebench.analysis.agreement import agreement_table
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.decay_result import DecayAnalysis
from convergebench.analysis.failures import ModeFacts, failures_table, labels_table
from convergebench.analysis.noticing import noticing, noticing_summary
from convergebench.analysis.onset import onset_summary, onsets
from convergebench.analysis.result import AnalysisInput
from convergebench.analysis.series import against_first
from convergebench.analysis.variants import success_table, variant_table
from convergebench.metrics.base import MetricFacts
from convergebench.studies.analysis_settings import AnalysisSettings


def with_step_1(facts: Mapping[str, MetricFacts], measured: set[str]) -> dict[str, MetricFacts]:
    """The facts of all metrics, and of those that were also measured against step 1 (`ssim-first`)."""
    more = {
        against_first(name): replace(
            one, name=against_first(name), summary=f"{one.summary} (against step 1)", dimension="none"
        )
        for name, one in facts.items()
        if against_first(name) in measured
    }
    return {**facts, **more}


def comparable(pairs: Mapping[str, Mapping[str, Any]], chains: pl.DataFrame) -> pl.DataFrame:
    """The chains that rank editors: every step should show the source and starts from the step before.

    Additions and sessions change the picture permanently, reconstructions show the source only at some steps, and
    independent runs do not accumulate. A run without such chains uses its additions and sessions.
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
    """(editor, case) of the chains that ended early."""
    return set(chains.filter(pl.col("rounds") < pl.col("planned")).select("editor", "case").iter_rows())


def analyse_decay(
    given: AnalysisInput,
    labels: pl.DataFrame,
    pairs: Mapping[str, Mapping[str, Any]],
    modes: Mapping[str, ModeFacts],
    settings: AnalysisSettings,
) -> DecayAnalysis:
    """Every frame; those without data are empty."""
    measured = set(given.measurements["metric"].unique()) if given.measurements.height else set()
    metric = settings.onset or next(
        (name for name in (against_first(settings.headline), settings.headline) if name in measured), ""
    )
    bootstrap = Bootstrap.of(settings)
    found = DecayAnalysis.empty().onsets
    if metric in measured:
        found = onsets(given.measurements, comparable(pairs, given.chains), metric, given.facts)
    noticed = noticing(given.measurements, given.chains)
    return DecayAnalysis(
        onsets=found,
        onset_summary=onset_summary(found, confidence=settings.confidence),
        failures=failures_table(labels, modes, short=_short(given.chains), confidence=settings.confidence),
        labels=labels_table(labels, modes),
        agreement=agreement_table(labels),
        noticing=noticed,
        noticing_summary=noticing_summary(noticed, found, confidence=settings.confidence),
        variants=variant_table(
            given.measurements, given.chains, pairs, given.facts, points=settings.points, bootstrap=bootstrap
        ),
        success=success_table(given.measurements, pairs, bootstrap=bootstrap),
    )
