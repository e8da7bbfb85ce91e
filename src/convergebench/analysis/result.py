"""What analysis takes and gives: frames in, frames out; no image is opened.

The columns named here are the contract between the store (which makes the inputs), the analysis (which makes the
outputs) and the report (which only draws them). `group` is `all`, `category:NAME`, `kind:NAME` or `pair:NAME`.
Every estimate carries its interval (`low`, `high`) and its counts (`n_cases`, `n_sources`, `n_missing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from convergebench.analysis.units import ROUND_TRIP, Unit
from convergebench.metrics.base import MetricFacts

ANALYSIS_VERSION = 1
"""Raised whenever a definition changes; stored with every table."""

POINTS = (1, 2, 3, 5, 10, 15, 20)
"""The rounds at which the plan asks for numbers."""


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """Every constant of the analysis; each is a key of the study file and is printed with the result."""

    quality: tuple[str, ...] = ("ssim", "lpips")
    """Metrics whose mean AUC is Q, as far as they were measured."""
    semantic: str | None = "gist"
    """Metric whose AUC is S."""
    headline: str = "ssim"
    """Metric of the half-life sentence."""
    level: str = "noticeable"
    """Level of the half-life sentence: `noticeable`, `half`."""
    levels: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Overrides per metric: {"ssim": {"noticeable": 0.9}}; the metric's own facts otherwise."""
    sustained: bool = False
    """Half-life at the first round after which the level stays passed, instead of the first passing."""
    distance: str = "rmse"
    """Metric of drift and displacement (its lag rows are named `rmse-lag1` …)."""
    floor: float = 0.5 / 255
    """Displacement that 8-bit rounding alone can make, for deterministic editors."""
    max_period: int = 6
    """Longest limit cycle looked for, in rounds."""
    draws: int = 2000
    seed: int = 0
    confidence: float = 0.95
    interval: Literal["percentile", "bca"] = "percentile"
    chain_draws: int = 500
    """Draws of the interval of q, per chain."""
    permutations: int = 9999
    """Label swaps of the paired test when there are too many to enumerate."""
    exact_sources: int = 14
    """Up to this many sources all 2^K swaps are enumerated and p is exact."""
    points: tuple[int, ...] = POINTS
    """Rounds whose numbers are printed in tables; curves have every round."""
    onset: str = ""
    """Metric whose curve shows the onset of decay; empty: the headline one, against step 1 where that was measured."""
    floors: tuple[str, ...] = ("sim-jpeg", "sim-resize", "taesd", "taesdxl", "taesd3", "taef1", "taef2")
    """Editors that stand for codec-only, resize-only and autoencoder-only floors, where they were run."""


@dataclass(frozen=True, slots=True)
class AnalysisInput:
    """What the store hands over.

    `measurements`: editor, case, source, kind, pair, category, replicate, round, step, metric, value (None if
    missing), status, role (may be absent: the kind of comparison); one row per (editor, case, step, metric). Metrics
    that compare with earlier rounds are named `rmse-lag1` … `rmse-lag6`. Round 0 has rows only of
    metrics that need no reference; for the others an untouched image has its self-value.
    `chains`: editor, case, source, kind, pair, category, replicate, status (finished, refused, failed, ended,
    stopped, open), detail, rounds (whole rounds done), planned (rounds asked for), steps, dollars, seconds.
    """

    measurements: pl.DataFrame
    chains: pl.DataFrame
    facts: Mapping[str, MetricFacts]
    simulated: frozenset[str]
    """Editors that only pretend."""
    deterministic: frozenset[str]
    """Editors whose answer is fixed by the seed and does not vary between replicates."""
    uninstructed: frozenset[str] = frozenset()
    """Editors that do the same whatever the words say."""
    unit: Unit = ROUND_TRIP
    """What its rounds are called in a sentence."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """Every number the report shows."""

    settings: AnalysisSettings
    version: int
    headline: tuple[str, ...]
    """Plain sentences with number and uncertainty, the most telling first."""
    formula: str
    """The combined score's formula with its parts, as printed."""
    ranking: pl.DataFrame
    """rank, editor, simulated, score, low, high, quality, semantic, half_life (text: `6` or `> 10`), half_life_median,
    half_life_low, half_life_high, restricted_mean, verdict (the commonest), n_cases, n_sources, n_left_out, n_missing
    (finished, but a metric of the score lacks a value), usable (text, like half_life, but over all of the
    editor's cases), n_finished, and the two dimensions by themselves: quality_rank, quality_low, quality_high,
    semantic_rank, semantic_low, semantic_high. On the cases that every ranked editor finished."""
    pairwise: pl.DataFrame
    """better, worse, difference, low, high, p, p_holm, significant, n_cases, n_sources, exact (combined score)."""
    curves: pl.DataFrame
    """editor, metric, group, round (0 included), mean, low, high, n_cases, n_sources, n_missing, averaging
    (`arithmetic`, or `mean squared error` for metrics in dB)."""
    auc: pl.DataFrame
    """editor, metric, group, auc, low, high, n_cases, n_sources, n_missing, n_short (chains that ended early)."""
    half_life: pl.DataFrame
    """editor, metric, level (name), threshold, group, median (None: not reached), low, high, text, restricted_mean,
    rounds (followed so far), n_cases, n_events, n_censored, n_sources, n_missing (cases without any value). The metric
    `usable` has no level: rounds until past the headline level, refused, failed or stopped."""
    half_life_cases: pl.DataFrame
    """editor, case, metric, level, threshold, rounds (first round passed, or last seen), exact (interpolated),
    passed."""
    survival: pl.DataFrame
    """editor, curve (`ssim noticeable`, `usable` …), group, round (0 included), survival, low, high, at_risk, events,
    censored."""
    shapes: pl.DataFrame
    """editor, group, shape (linear, root, saturating, accelerating), aicc, weight, parameters (text), best (bool),
    verdict (the best shape's name, `undecided`, or `flat` without drift), n_rounds, n_cases, n_sources, n_missing."""
    contraction: pl.DataFrame
    """Per chain: editor, case, source, kind, pair, category, verdict (returns, settles, cycles, diverges, drifts,
    unknown), q, q_low, q_high, period, floor, drift, first_displacement, last_displacement, efficiency, prior_bound,
    posterior_bound, radius, rounds, floor_from (which floor it was), lag_growth (0 ball, ½ walk, 1 march)."""
    verdicts: pl.DataFrame
    """editor, verdict, chains, share, median_q."""
    adherence: pl.DataFrame
    """editor, group, metric (happened, undone …), leg (forward, backward: whose steps it speaks of), mean, low, high,
    share (of readings above one half), n_cases, n_sources, n_missing (readings without a value), n_readings."""
    diagnostics: pl.DataFrame
    """editor, metric, step, mean, n_cases, n_missing: drift diagnostics along the chain."""
    worst: pl.DataFrame
    """editor, case, source, kind, pair, category, auc, last, rounds, half_life (text), verdict: worst first."""
    floors: pl.DataFrame
    """editor, floor (editor), metric, auc, floor_auc (both over the rounds that both have), excess (loss beyond the
    floor's), low, high, n_cases, n_sources, n_missing."""
    outcomes: pl.DataFrame
    """editor, status, chains, steps, dollars, seconds."""
