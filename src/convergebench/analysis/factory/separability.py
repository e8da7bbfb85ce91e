"""Can a simple reward model tell accepted from rejected edits? If not, the preference pairs teach nothing.

A Bradley–Terry model: the probability that one picture is preferred is the logistic function of the difference of their
features, without a constant. Features are measurements of each attempt against the picture it started from; the judge's
scores are not among them. It is fitted on some source images and tested on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.optimize import minimize

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.result import frame
from convergebench.analysis.factory.shares import share_of
from convergebench.analysis.trajectories import Floats, Ints

FEWEST_PAIRS = 30
FEWEST_IMAGES = 10
"""With fewer pairs, or pairs of fewer source images, nothing is said."""
FOLDS = 5
PENALTY = 1.0
"""Of squared weights, on standardised features; keeps weights finite where pairs can be told apart perfectly."""
KNOWN = 0.8
"""Least share of pairs for which a feature must have been measured."""
MOST_PAIRS = 20_000
NOT_OF_AN_ATTEMPT = ("return", "source", "first", "lag", "replicate", "around", "alone")
"""Comparisons that only accepted pictures have, or that are about another question."""


@dataclass(frozen=True)
class PreferencePairs:
    """Differences (chosen minus rejected) of features, NaN where one of the two is missing: pairs × features."""

    differences: Floats
    sources: list[str]
    metrics: list[str]


def separability_tables(
    attempts: pl.DataFrame, measurements: pl.DataFrame, bootstrap: Bootstrap
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The frames `separability` and `separability_features`."""
    rows, features = [], []
    for editor in attempts["editor"].unique().sort():
        own = preference_pairs(
            attempts.filter(pl.col("editor") == editor),
            measurements.filter(pl.col("editor") == editor) if measurements.height else measurements,
        )
        counts = {"editor": editor, "n_pairs": len(own.sources), "n_sources": len(set(own.sources))}
        counts["features"] = len(own.metrics)
        why = _too_little(own)
        if why:
            rows.append({**counts, "note": why})
            continue
        right = held_out(own.differences, own.sources, bootstrap.seed)
        accuracy = share_of(right, own.sources, bootstrap)
        found = {"accuracy": accuracy.value, "low": accuracy.low, "high": accuracy.high, "folds": FOLDS}
        rows.append({**counts, **found, "note": ""})
        scaled, _ = standardised(own.differences, own.differences)
        for metric, weight, column in zip(own.metrics, fitted(scaled), own.differences.T, strict=True):
            features.append({"editor": editor, "metric": metric, "weight": float(weight), **_alone(column)})
    return frame("separability", rows), frame("separability_features", features)


def preference_pairs(attempts: pl.DataFrame, measurements: pl.DataFrame) -> PreferencePairs:
    """Every attempt that was judged and rejected, with the accepted one of the same turn."""
    keys = ["case", "turn"]
    chosen = attempts.filter("accepted").select(*keys, "source", pl.col("position").alias("chosen"))
    rejected = attempts.filter(~pl.col("accepted"), pl.col("state").is_not_null(), pl.col("score").is_not_null())
    pairs = rejected.select(*keys, pl.col("position").alias("rejected")).join(chosen, on=keys).sort(*keys, "rejected")
    pairs = pairs.head(MOST_PAIRS)
    if not pairs.height or not measurements.height or "role" not in measurements.columns:
        return PreferencePairs(np.zeros((pairs.height, 0)), pairs["source"].to_list(), [])
    values = measurements.filter(
        ~pl.col("role").is_in(NOT_OF_AN_ATTEMPT), pl.col("value").is_finite(), pl.col("status") == "ok"
    ).select("case", "step", "metric", "value")
    columns, names = [], []
    for (metric,), part in values.sort("metric").group_by("metric", maintain_order=True):
        found = dict(zip(part.select("case", "step").iter_rows(), part["value"], strict=True))
        column = np.array(
            [
                found.get((case, one), np.nan) - found.get((case, other), np.nan)
                for case, one, other in pairs.select("case", "chosen", "rejected").iter_rows()
            ]
        )
        known = column[~np.isnan(column)]
        if known.size >= KNOWN * column.size and known.any():  # a feature that never differs says nothing
            columns.append(column)
            names.append(str(metric))
    differences = np.stack(columns, axis=1) if columns else np.zeros((pairs.height, 0))
    return PreferencePairs(differences, pairs["source"].to_list(), names)


def _too_little(pairs: PreferencePairs) -> str:
    if len(pairs.sources) < FEWEST_PAIRS:
        return f"{len(pairs.sources)} pairs; {FEWEST_PAIRS} are needed"
    if len(set(pairs.sources)) < FEWEST_IMAGES:
        return f"pairs of {len(set(pairs.sources))} source images; {FEWEST_IMAGES} are needed"
    return "" if pairs.metrics else "no measurement of both pictures of a pair (cbench measure)"


def fold_of(sources: Sequence[str], seed: int) -> Ints:
    """The fold of each pair: pairs of one source image are in one fold; folds have about as many images each."""
    names = np.array(sorted(set(sources)))
    shuffled = np.random.default_rng([seed, names.size]).permutation(names.size)
    folds = {str(names[image]): number % FOLDS for number, image in enumerate(shuffled)}
    return np.array([folds[source] for source in sources])


def held_out(differences: Floats, sources: Sequence[str], seed: int) -> Floats:
    """Per pair: 1 if a model that never saw its image prefers the chosen picture, ½ if it cannot tell, 0 if not."""
    folds = fold_of(sources, seed)
    right = np.full(len(sources), np.nan)
    for fold in range(FOLDS):
        test = folds == fold
        train, tested = standardised(differences[~test], differences[test])
        margin = tested @ fitted(train)
        right[test] = np.where(margin > 0, 1.0, np.where(margin < 0, 0.0, 0.5))
    return right


def standardised(train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Both in units of the training pairs' root mean square; what is missing becomes 0: no difference is known."""
    scale = np.sqrt(np.nanmean(np.where(np.isnan(train).all(axis=0), 0.0, train) ** 2, axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    return np.nan_to_num(train / scale), np.nan_to_num(test / scale)


def fitted(differences: Floats) -> Floats:
    """Weights of the largest penalised likelihood that every difference is in favour of the chosen picture."""

    def loss(weights: Floats) -> tuple[float, Floats]:
        margin = differences @ weights
        value = float(np.logaddexp(0, -margin).sum() + PENALTY / 2 * weights @ weights)
        # the derivative of log(1 + exp(−m)) is −1 / (1 + exp(m)); written so that it cannot overflow
        slope = -np.exp(-np.logaddexp(0, margin))
        return value, differences.T @ slope + PENALTY * weights

    found = minimize(loss, np.zeros(differences.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(found.x)


def _alone(column: Floats) -> dict[str, object]:
    known = column[~np.isnan(column)]
    share = float(((known > 0) + 0.5 * (known == 0)).mean())
    return {"alone": max(share, 1 - share), "n_pairs": int(known.size)}
