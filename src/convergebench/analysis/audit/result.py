"""Input and result of the audit, both as frames.

The columns declared here are the contract between the conductor, the analysis and the pages. An empty frame has the
same columns. *Scaled* scores are mapped from the metric's range to 0…100, higher is better, never clipped. `at` counts
rounds or steps, as the settings say; 0 is the untouched picture. A *cell* is one image under one editor of one run, for
one metric.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import polars as pl

from convergebench.analysis.schemas import INTERVAL, B, F, N, T
from convergebench.metrics.base import MetricFacts
from convergebench.studies.analysis_settings import AuditSettings

Columns = dict[str, type[pl.DataType]]

AUDIT_VERSION = 2
"""Increased whenever the same scores would give other numbers."""

_PICTURE: Columns = {"run": T, "editor": T, "case": T, "source": T, "pair": T, "replicate": N}
_CELL: Columns = {"run": T, "editor": T, "source": T, "pair": T}

INPUTS: dict[str, Columns] = {
    "scores": {**_PICTURE, "kind": T, "at": N, "step": N, "metric": T, "value": F, "status": T, "detail": T},
    "damage": {**_PICTURE, "at": N, "metric": T, "value": F},
    "chains": {**_PICTURE, "role": T, "simulated": B, "last": N},
    "repeats": {"metric": T, "check": T, "picture": T, "first": F, "second": F, "status": T},
    "opinions": {"picture": T, "mos": F, "metric": T, "value": F, "status": T},
}
"""`chains.role`: `copies` (every picture should show the source), `additions` (objects are added step upon step),
`additions-apart` (objects are added to the untouched picture, so nothing decays), `other` (not audited)."""

SCHEMAS: dict[str, Columns] = {
    "metrics": {
        **{"metric": T, "title": T, "route": T, "published": B, "status": T, "why": T, "better": T},
        **{"range_low": F, "range_high": F, "range_ours": B},
        **{"n_cells": N, "n_failed": N, "n_failed_any": N, "n_zero": N, "n_missing": N, "n_sources": N, "n_editors": N},
        **{"share": F, **INTERVAL, "white": B, "white_any": B, "verdict": T, "reason": T, "learned_from": T},
    },
    "gaps": {
        **{**_CELL, "metric": T, "at": N, "gap": F, "failed": B, "zero": B, "worst_gap": F, "failed_any": B},
        **{"base_score": F, "score": F, "n_runs": N, "n_missing": N},
    },
    "cells": {**_CELL, "metric": T, "failures": N, "failures_any": N, "known": N, "asked": N},
    "failures": {
        **{"editor": T, "metric": T, "n_cells": N, "n_failed": N, "n_failed_any": N, "n_zero": N, "n_missing": N},
        **{"n_sources": N, "share": F, **INTERVAL, "white": B},
    },
    "pairs": {"fewer": T, "more": T, "difference": F, "p": F, "p_holm": F, "told": B, "n_cells": N, "n_sources": N},
    "traces": {**_CELL, "metric": T, "at": N, "mean": F, "smallest": F, "largest": F, "raw": F, "n_runs": N},
    "confound": {
        **{"metric": T, "spread": F, "smallest": F, "largest": F, "smallest_source": T, "largest_source": T},
        **{"at": N, "mean_gap": F, "ratio": F, **INTERVAL, "n_clean": N, "n_cells": N},
    },
    "ranges": {
        **{"metric": T, "range_low": F, "range_high": F, "n": N, "below": N, "above": N, "smallest": F, "largest": F},
        **{"smallest_where": T, "largest_where": T},
    },
    "content": {
        **{"metric": T, "editor": T, "pair": T, "role": T, "n_cells": N, "shift": F, **INTERVAL, "largest": F},
        **{"jumpiness": F, "drop": F, "ratio": F},
    },
    "filter_risk": {
        **{"metric": T, "percentile": F, "threshold": F, "editor": T, "at": N, "n": N, "passed": N, "share": F},
        **{**INTERVAL, "clean_share": F, "n_clean": N, "needed": N},
    },
    "ranks": {
        **{"metric": T, "editor": T, "against": T, "rho": F, **INTERVAL, "n_chains": N, "n_undefined": N},
        **{"n_sources": N},
    },
    "opinions": {
        **{"metric": T, "n": N, "n_missing": N, "plcc": F, "plcc_low": F, "plcc_high": F},
        **{"srcc": F, "srcc_low": F, "srcc_high": F},
    },
    "repeats": {"metric": T, "check": T, "n": N, "largest": F, "median": F, "same": N, "status": T},
    "contradictions": {
        **{"metric": T, **_PICTURE, "at": N, "base_score": F, "score": F, "gap": F},
        **{"damage_metric": T, "damage": F, "base_at": N, "plain": B},
    },
    "recommendations": {"metric": T, "purpose": T, "answer": T, "reason": T},
}
"""The columns of every output frame."""


@dataclass(frozen=True, slots=True)
class AuditInput:
    """Scores of pictures and facts about their chains. Columns: `INPUTS`."""

    scores: pl.DataFrame
    """Every no-reference score of every picture, one row per (run, editor, case, step, metric), raw."""
    damage: pl.DataFrame
    """Full-reference values of the same pictures, names as in the run's tables (`lpips-first`, `ssim`)."""
    chains: pl.DataFrame
    facts: Mapping[str, MetricFacts]
    """Of every metric in `scores` and `damage`."""
    not_run: Mapping[str, str] = field(default_factory=dict)
    """Requested metric → why it has no score."""
    repeats: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=INPUTS["repeats"]))
    """One picture scored twice: again, in another process, on another device, through a file, at another size."""
    opinions: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=INPUTS["opinions"]))
    """Pictures that people rated, with the metrics' scores."""


@dataclass(frozen=True, slots=True)
class AuditAnalysis:
    """Every number of the audit."""

    settings: AuditSettings
    """As used, with the gaps that were chosen."""
    version: int
    headline: tuple[str, ...]
    """Plain sentences with their numbers, the most important first."""
    notes: tuple[str, ...]
    """Remarks: a chosen upper bound, gaps that chains did not reach, metrics that were not run."""
    metrics: pl.DataFrame
    """One row per metric, the 23 published ones first: `status` is `audited` or `not run` (and `why`). A cell fails if
    any gap is not negative; `n_failed` counts cells on the mean over runs, `n_failed_any` cells where any single run
    fails. `white`: no cell failed, and none is missing a gap. `verdict` follows from the interval of the share: sound,
    seldom fooled, unproven, cannot be told, often fooled, rewards damage; too few to tell, not run. `learned_from`
    names the audited editors whose pictures trained the metric: its results on them are no test and never `sound`."""
    gaps: pl.DataFrame
    """Per cell and `at`: scaled score minus that of the baseline, mean over runs; `zero` marks a gap of exactly 0,
    which fails. Null where a score is missing (`n_missing` runs)."""
    cells: pl.DataFrame
    """Per cell: how many of the gaps fail (0–3 with the default ones), `known` of `asked`."""
    failures: pl.DataFrame
    """Per editor (and `all`) and metric: cells that fail, and their share of the known ones; the interval has images
    as units and covers all possible outcomes of the unknown cells."""
    pairs: pl.DataFrame
    """Every two metrics on the pictures for which both are known: which fails less often, and whether that is
    significant (`told`; swaps over images, Holm over all pairs)."""
    traces: pl.DataFrame
    """Scaled score (mean, smallest and largest of the runs) and raw mean per `at`; chains of additions too."""
    confound: pl.DataFrame
    """Spread of the scaled score over untouched images beside the mean gap at the last `at`; ratio = |mean gap| over
    spread. Under 1, what is on a picture moves the score more than the damage does."""
    ranges: pl.DataFrame
    """How many raw scores leave the typical range, and the outermost ones."""
    content: pl.DataFrame
    """What adding objects does to the scaled score: `shift` is the mean change by an edit that adds (apart: against the
    source; step upon step: from one picture to the next), what the edit wears included; `jumpiness` its standard
    deviation, `drop` the mean gap that damage alone makes, `ratio` jumpiness over |drop|."""
    filter_risk: pl.DataFrame
    """What share of the pictures at `at` passes a filter set at a percentile of the untouched ones (`clean_share` of
    which pass it); nothing where `n_clean` untouched images are fewer than the `needed`."""
    ranks: pl.DataFrame
    """Spearman's rank correlation within chains, averaged: against `step` (−1: falls with every step) and against the
    damage metric (−1: falls with damage)."""
    opinions: pl.DataFrame
    """Against people's ratings, where there are any; higher is better for both, so +1 is right."""
    repeats: pl.DataFrame
    """Distance between two scores of one picture, scaled, per check."""
    contradictions: pl.DataFrame
    """Per metric and editor the picture whose score rises most while the damage is plain, the worst first. `plain`: at
    least as damaged as the median picture at that step; false where only compared with the editor's own median, None
    where it was not measured. `damage` is the value of the damage metric."""
    recommendations: pl.DataFrame
    """Per metric and purpose (`filter`, `follow a chain`, `compare images`): yes, with care, no, unknown; and why."""


def frame_names() -> list[str]:
    """The frames, in the order of the dataclass."""
    return [one.name for one in fields(AuditAnalysis) if one.name in SCHEMAS]
