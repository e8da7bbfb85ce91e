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

from convergebench.analysis.schemas import table
from convergebench.analysis.units import ROUND_TRIP, Unit
from convergebench.metrics.base import MetricFacts

ANALYSIS_VERSION = 2
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
    adherence: tuple[str, str] = ("happened", "undone")
    """Metrics that say whether an edit was done and whether it was undone; the score is conditioned on them."""
    coverage: float = 0.8
    """Least share of the cases and rounds that an editor must deliver to get a rank."""
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
    settling_rounds: int = 10
    """Rounds below which it is too early to say that a chain settles, cycles, drifts or diverges."""
    draws: int = 2000
    seed: int = 0
    confidence: float = 0.95
    interval: Literal["corrected-t", "percentile", "bca"] = "corrected-t"
    chain_draws: int = 500
    """Without effect: the interval of q is no longer drawn. Kept so that older study files can be read."""
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
    """rank (null: a reference, or too little coverage), rank_low, rank_high (places in resamples), editor, simulated,
    reference (why it is no rival; empty for a rival), score, low, high, values (image by image, where there are too
    few for an interval), adherence (A), done, undone (of those done), coverage, usable_share (rounds delivered of those
    asked for), closeness (the score without adherence), closeness_low, closeness_high, quality, semantic, half_life
    (text: `6` or `> 10`), half_life_median, half_life_low, half_life_high, half_life_events, half_life_cases, followed
    (rounds over which half-lives are compared), restricted_mean, verdict (the commonest), usable (text, like half_life,
    but with refusals as events), n_cases, n_sources, n_left_out (chains), n_missing (rounds without a value, for
    reasons of ours), n_lost (rounds whose picture cannot be measured for what was done to it), n_chains, n_finished,
    n_refused, n_failed, and the two dimensions by themselves: quality_rank, quality_low, quality_high, semantic_rank,
    semantic_low, semantic_high. Scores are on the cases that every ranked editor has, half-lives on all of its own."""
    pairwise: pl.DataFrame
    """better, worse, difference, low, high, p, p_holm, significant, n_cases, n_sources, exact, rounds (most compared),
    spread (standard deviation between images), needed (images that would tell), smallest_p (that any outcome could
    have): the combined score on the cases of the two."""
    places: pl.DataFrame
    """editor, place, share (of the resamples in which a ranked editor has this place)."""
    curves: pl.DataFrame
    """editor, metric, group, round (0 included), mean, low, high, n_cases, n_sources, n_missing, n_lost, averaging
    (`arithmetic`, or `mean squared error` for metrics in dB)."""
    auc: pl.DataFrame
    """editor, metric, group, auc, low, high, n_cases, n_sources, n_missing, n_lost (both rounds), n_short (chains that
    ended early)."""
    half_life: pl.DataFrame
    """editor, metric, level (name), threshold, group, median (None: not reached), low, high, text, restricted_mean,
    rounds (followed so far), n_cases, n_events, n_censored, n_sources, n_missing, n_lost (both rounds). The metric
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
    too early, unknown), q, q_low, q_high, period, floor, drift, first_displacement, last_displacement, efficiency,
    prior_bound, posterior_bound, radius, rounds, floor_from (which floor it was), lag_growth (0 ball, ½ walk, 1 march),
    pace (displacement that does not shrink). The two bounds are estimates, with the upper end of q."""
    verdicts: pl.DataFrame
    """editor, verdict, chains, share, low, high, median_q, n_sources."""
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
    anchors: pl.DataFrame = field(default_factory=lambda: table("anchors", []))
    """anchor (noise, grey, other: what chance returns), metric (or `closeness`), mean, low, high, area (of a chain that
    returns it every round), n_sources, n_lost (pictures the metric cannot measure). Needs the run's anchors."""
    sensitivity: pl.DataFrame = field(default_factory=lambda: table("sensitivity", []))
    """factor, choice, chosen (the report's own), order (text, best first), same_order (None: partly tied, or no order),
    same_leader, changes (pairs turned round), largest_swap (their largest difference in the report's score), tau,
    n_cases, note (why there is no order, or who has none). Empty with fewer than two ranked editors."""
