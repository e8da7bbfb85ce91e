"""The result of the analysis part `restoration`. The columns declared here are the contract with report and claims.

`metric` is the plain name (`psnr`): values are those of the role `restored`; diagnostics such as colour casts, which
have no better or worse, are in `restored` and `outlier_repeats` only. `prompt` is a prompt's id, `group` its cell of
the design (S, SF, L, LF). `set` is `degradation` for pictures whose kind is the name of what spoilt them, which the
literature shows without a clean picture, and `scene` for all others. A method's `gain` is its value minus that of the
degraded input, turned so that more is better. `n_cases` counts degraded pictures (a picture's value is the mean of its
repeats), `n_sources` the photographs behind them, over which all intervals and tests are. Means are arithmetic, of
decibels too, as in the literature's tables; the curves of other studies average PSNR as mean squared error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from convergebench.analysis.schemas import COUNTS, INTERVAL, AnalysisTables, B, F, N, T, clean

INPUT = "input"
"""The degraded picture itself, as a row among the methods: what doing nothing scores."""

SCHEMAS: dict[str, dict[str, type[pl.DataType]]] = {
    "restored": {
        **{"editor": T, "case": T, "source": T, "kind": T, "set": T, "prompt": T, "group": T, "replicate": N},
        **{"round": N, "metric": T, "value": F, "before": F, "gain": F, "status": T},
    },
    "prompt_results": {
        **{"editor": T, "row": T, "level": T, "metric": T, "mean": F, **INTERVAL, **COUNTS, "best": B, "paper": F},
    },
    "factor_effects": {
        **{"editor": T, "metric": T, "effect": T, "estimate": F, **INTERVAL, "p": F, "p_holm": F, "significant": B},
        **{"p_wordings": F, "better": T, "n_sources": N, "n_cases": N, "n_missing": N, "note": T},
    },
    "stability": {
        **{"editor": T, "prompt": T, "metric": T, "statistic": F, "p": F, "p_holm": F, "significant": B},
        **{"significant_holm": B, "repeats": N, "n_cases": N, "n_sources": N, "n_missing": N, "spread": F},
        **{"spread_low": F, "spread_high": F, "between": F, "note": T},
        **{"paper_statistic": F, "paper_p": F},
    },
    "outlier_repeats": {
        **{"editor": T, "case": T, "source": T, "kind": T, "prompt": T, "replicate": N, "metric": T, "value": F},
        **{"median": F, "deviation": F, "usual": F, "times": F},
    },
    "category_results": {
        **{"category": T, "title": T, "set": T, "editor": T, "metric": T, "mean": F, **INTERVAL, **COUNTS},
        **{"best": B, "note": T, "paper": F},
    },
    "method_results": {
        **{"editor": T, "metric": T, "mean": F, **INTERVAL, **COUNTS, "gain": F, "gain_low": F, "gain_high": F},
        **{"improved": F, "coverage": F, "best": B, "note": T, "paper": F},
    },
    "method_contrasts": {
        **{"metric": T, "better": T, "worse": T, "difference": F, **INTERVAL, "p": F, "p_holm": F, "significant": B},
        **{"n_cases": N, "n_sources": N},
    },
    "tradeoff": {
        **{"level": T, "editor": T, "prompt": T, "distortion_metric": T, "perception_metric": T, "distortion": F},
        **{"perception": F, "pareto": B, "n_cases": N, "n_sources": N},
    },
    "refinement": {
        **{"editor": T, "round": N, "metric": T, "mean": F, **INTERVAL, **COUNTS},
        **{"gain": F, "gain_low": F, "gain_high": F},
    },
    "infidelity": {
        **{
            "editor": T,
            "prompt": T,
            "group": T,
            "fidelity": B,
            "mode": T,
            "said_by": T,
            "cases": N,
            "n": N,
            "share": F,
        },
        **{**INTERVAL, "n_sources": N, "n_unknown": N, "per_prompt": F},
    },
    "infidelity_effects": {
        **{"editor": T, "mode": T, "said_by": T, "without": F, "with": F, "difference": F, **INTERVAL, "p": F},
        **{"p_holm": F, "significant": B, "n_cases": N, "n_sources": N},
    },
}
"""The columns of every frame."""

Rows = Sequence[Mapping[str, object]]


def frame(name: str, rows: Rows) -> pl.DataFrame:
    """The frame `name` from row mappings; columns that a row lacks are null, NaN becomes null."""
    columns = SCHEMAS[name]
    return clean(pl.DataFrame([{key: row.get(key) for key in columns} for row in rows], schema=columns))


@dataclass(frozen=True, slots=True)
class RestorationAnalysis(AnalysisTables):
    """The result of the analysis part `restoration`."""

    headline: tuple[str, ...]
    """Plain sentences with number and uncertainty, the most important first."""
    unified: str
    """The prompt by which methods are compared."""
    metrics: tuple[str, ...]
    """The metrics of the tables: those with a reference first."""
    restored: pl.DataFrame
    """One row per editor, case, round (from 1) and metric; `before` is the value of the degraded input."""
    prompt_results: pl.DataFrame
    """Table 2 of the literature, per editor that reads words. level: `prompt`, `group` (Avg(L) …), `length`
    (Avg (L + LF) …); row: `L1`, `Avg(L)`, `Avg (L + LF)`. Means over the pictures that all prompts have."""
    factor_effects: pl.DataFrame
    """effect: `length` (long minus short), `fidelity` (with minus without), `interaction`; in the metric's unit, paired
    within pictures, for these prompts. p_wordings: p if prompts are a sample too, small if
    other wordings should show the effect. better: which side is better (`long`, `short`, `with`, `without`),
    empty if not significant after Holm's correction over the metrics and effects of an editor."""
    stability: pl.DataFrame
    """Table 3: Friedman's test over repeats per prompt and metric, which finds repeats whose *number* matters and
    cannot find an unsteady editor. spread, which does: standard deviation between the repeats of a picture, pooled
    over pictures; between: that between the means of pictures."""
    outlier_repeats: pl.DataFrame
    """Repeats far from the other repeats of their picture. deviation: from the median of the repeats; usual: the robust
    standard deviation of such deviations; times: their ratio."""
    category_results: pl.DataFrame
    """Table 4: kinds × methods under the unified prompt, round 1. Without a clean picture the mean is null and note is
    `no reference`, printed as `/`. The method `input` is the degraded picture itself."""
    method_results: pl.DataFrame
    """Table 5: methods over all pictures under the unified prompt, round 1, on the pictures that all methods restored.
    improved: share of pictures with a gain; coverage: share of its chains that were delivered; best only with coverage
    of at least 80 %."""
    method_contrasts: pl.DataFrame
    """Paired differences of two methods on the same pictures, `input` among them; Holm over the pairs of a metric.
    Methods that delivered less than 80 % are left out."""
    tradeoff: pl.DataFrame
    """Perception against distortion, per method (level `method`) and per prompt of a method (level `prompt`); pareto:
    nothing of the same level (and editor, for prompts) is better in both."""
    refinement: pl.DataFrame
    """Means per round of refinement; round 0 is the degraded input. gain: over the round before. Without a second round
    it has no rows."""
    infidelity: pl.DataFrame
    """Chains per prompt in which infidelity or over-generation was proposed by a rule or confirmed by people. mode:
    a failure mode or `any`; said_by: `rule`, `person`. prompt `all`: the prompts with, or without, a request for
    fidelity; per_prompt: cases for each of them. The paper counts 0.5 with and 2 without, on 35 pictures."""
    infidelity_effects: pl.DataFrame
    """The share with a request for fidelity minus that without, within pictures, per mode."""
