"""Input and result of the analysis part `comparison`, both as frames; no image is opened.

The columns named here are the contract between the store (which makes the inputs), the analysis (which makes the
outputs) and the report (which shows them). `group` is `all`, `category:NAME`, `kind:NAME` or `pair:NAME`.
Every estimate has its interval (`low`, `high`) and its counts (`n_cases`, `n_sources`, `n_missing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from convergebench.analysis.schemas import AnalysisTables, table
from convergebench.metrics.base import MetricFacts
from convergebench.studies.analysis_settings import AnalysisSettings
from convergebench.studies.units import ROUND_TRIP, Unit

ANALYSIS_VERSION = 2
"""Increased whenever a definition changes; stored with every table."""


@dataclass(frozen=True, slots=True)
class AnalysisInput:
    """Tables and facts of a run, from the store.

    `measurements`: editor, case, source, kind, pair, category, replicate, round, step, metric, value (None if
    missing), status, role (the kind of comparison; may be absent); one row per (editor, case, step, metric). Metrics
    that compare with earlier rounds are named `rmse-lag1` … `rmse-lag6`. Round 0 has rows only of metrics that need no
    reference; for the others an untouched image has its self-value.
    `chains`: editor, case, source, kind, pair, category, replicate, status (finished, refused, failed, ended,
    stopped, open), detail, rounds (whole rounds done), planned (rounds requested), steps, dollars, seconds.
    """

    measurements: pl.DataFrame
    chains: pl.DataFrame
    facts: Mapping[str, MetricFacts]
    simulated: frozenset[str]
    """Simulated editors."""
    deterministic: frozenset[str]
    """Editors whose output is fixed by the seed and does not vary between replicates."""
    uninstructed: frozenset[str] = frozenset()
    """Editors that ignore the instruction."""
    unit: Unit = ROUND_TRIP
    """The name of a round in sentences."""


@dataclass(frozen=True, slots=True)
class Analysis(AnalysisTables):
    """Every number the report shows."""

    settings: AnalysisSettings
    version: int
    headline: tuple[str, ...]
    """Plain sentences with number and uncertainty, the most important first."""
    formula: str
    """The combined score's formula with its parts, as printed."""
    ranking: pl.DataFrame
    """rank (null: a reference, or too little coverage), rank_low, rank_high (places in resamples), editor, simulated,
    reference (why it is only a reference; else empty), score, low, high, values (image by image, where there are too
    few for an interval), adherence (A), done, undone (of those done), coverage, usable_share (rounds delivered of those
    requested), closeness (the score without adherence), closeness_low, closeness_high, quality, semantic, half_life
    (text: `6` or `> 10`), half_life_median, half_life_low, half_life_high, half_life_events, half_life_cases, followed
    (rounds over which half-lives are compared), restricted_mean, verdict (the commonest), usable (text, like half_life,
    but with refusals as events), n_cases, n_sources, n_left_out (chains), n_missing (rounds that were not
    measured), n_lost (rounds whose picture cannot be measured because of what the editor did), n_chains, n_finished,
    n_refused, n_failed, and the two dimensions alone: quality_rank, quality_low, quality_high, semantic_rank,
    semantic_low, semantic_high. Scores are on the cases that every ranked editor has, half-lives on all of its own."""
    pairwise: pl.DataFrame
    """better, worse, difference, low, high, p, p_holm, significant, n_cases, n_sources, exact, rounds (most compared),
    spread (standard deviation between images), needed (images for significance), smallest_p (that any outcome could
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
    """editor, group, metric (happened, undone …), leg (forward, backward), mean, low, high,
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
