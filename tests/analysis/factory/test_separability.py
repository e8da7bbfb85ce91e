"""The reward model: it learns what can be learned, finds nothing in noise, and is silent about too little."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from convergebench.analysis.factory.separability import (
    FEWEST_PAIRS,
    fitted,
    fold_of,
    held_out,
    preference_pairs,
    separability_tables,
)
from tests.analysis.factory.decided_world import BOOTSTRAP, REFUSED, Told, World, world


def measured(found: World, signal: float, *, role: str = "step", seed: int = 0) -> pl.DataFrame:
    """A metric that differs by `signal` standard deviations between accepted and rejected, and one of pure noise."""
    generator = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for one in found.attempts.filter(pl.col("state").is_not_null()).to_dicts():
        where = {"editor": "ours", "case": one["case"], "step": one["position"], "status": "ok", "role": role}
        rows.append({**where, "metric": "telling", "value": generator.normal(signal * one["accepted"], 1)})
        rows.append({**where, "metric": "noise", "value": generator.normal(0, 1)})
    return pl.DataFrame(rows)


def pairs(count: int, sources: int) -> World:
    labels = ("add-object", "zoom-in", "outpaint", "film-grain", "art-style", "pose", "clothing", "expression")
    told = [Told(f"p{n % sources:02}", [(0.5, 0.9)], label=labels[n // sources]) for n in range(count)]
    return world(*told)


def row(found: World, measurements: pl.DataFrame) -> dict[str, Any]:
    (only,) = separability_tables(found.attempts, measurements, BOOTSTRAP)[0].to_dicts()
    return only


def test_what_differs_is_learned_and_shown_on_images_not_seen() -> None:
    found = pairs(120, 30)
    told = row(found, measured(found, 2.0))
    assert told["accuracy"] == pytest.approx(0.92, abs=0.07)  # Φ(2/√2)
    assert told["low"] > 0.5
    (telling,) = (
        separability_tables(found.attempts, measured(found, 2.0), BOOTSTRAP)[1]
        .filter(pl.col("metric") == "telling")
        .to_dicts()
    )
    assert telling["weight"] > 0
    assert telling["alone"] > 0.85


def test_noise_is_not_learned() -> None:
    found = pairs(120, 30)
    accuracies = [row(found, measured(found, 0.0, seed=seed))["accuracy"] for seed in range(12)]
    assert np.mean(accuracies) == pytest.approx(0.5, abs=0.05)


def test_a_lower_value_may_be_the_better_one() -> None:
    found = pairs(120, 30)
    assert row(found, measured(found, -2.0))["accuracy"] > 0.8


def test_too_few_pairs_or_images_or_no_measurement_give_a_reason() -> None:
    few, narrow = pairs(FEWEST_PAIRS - 1, 29), pairs(40, 5)
    assert f"{FEWEST_PAIRS} are needed" in row(few, measured(few, 2.0))["note"]
    assert "5 source images" in row(narrow, measured(narrow, 2.0))["note"]
    enough = pairs(60, 30)
    assert "cbench measure" in row(enough, measured(enough, 2.0, role="return"))["note"]
    assert all(row(found, measured(found, 2.0))["accuracy"] is None for found in (few, narrow))


def test_pairs_are_of_one_turn_and_have_two_pictures() -> None:
    found = world(Told("a", [(REFUSED, 0.5, 0.9), (0.9,)], planned=2), Told("b", [(0.5, 0.5, 0.5)]))
    assert preference_pairs(found.attempts, measured(found, 1.0)).differences.shape == (1, 2)


def test_no_source_image_is_in_two_folds() -> None:
    sources = [f"p{number % 13}" for number in range(100)]
    folds = fold_of(sources, 0)
    assert all(
        len({fold for fold, name in zip(folds, sources, strict=True) if name == one}) == 1 for one in set(sources)
    )
    assert set(folds) == set(range(5))


def test_a_fit_is_the_largest_likelihood() -> None:
    generator = np.random.default_rng(0)
    differences = generator.normal(0.5, 1, (400, 3))
    weights = fitted(differences)

    def loss(at: np.ndarray[Any, Any]) -> float:
        return float(np.logaddexp(0, -differences @ at).sum() + at @ at / 2)

    assert all(loss(weights) <= loss(weights + generator.normal(0, 0.01, 3)) for _ in range(50))


def test_what_a_model_saw_of_an_image_does_not_help_on_it() -> None:
    """Each image has a direction of its own: a model that had seen it would be right, one that has not is guessing."""
    generator = np.random.default_rng(4)
    ways = generator.normal(0, 1, (40, 20))
    sources = [f"p{number}" for number in range(40) for _ in range(6)]
    differences = np.repeat(ways, 6, axis=0) + generator.normal(0, 0.1, (240, 20))
    assert held_out(differences, sources, 0).mean() == pytest.approx(0.5, abs=0.2)


def test_missing_measurements_leave_the_other_features_to_decide() -> None:
    found = pairs(120, 30)
    table = measured(found, 2.0)
    table = table.with_columns(
        pl.when((pl.col("metric") == "noise") & (pl.int_range(pl.len()) % 15 == 1))
        .then(None)
        .otherwise("value")
        .alias("value")
    )
    told = row(found, table)
    assert told["features"] == 2
    assert told["accuracy"] > 0.8
