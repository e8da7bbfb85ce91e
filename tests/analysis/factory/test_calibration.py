"""The judge's scores beside ratings of people and of other models."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from convergebench.analysis.factory.calibration import agreement_table, between_judges
from convergebench.store.frames import RATINGS
from tests.analysis.factory.decided_world import BOOTSTRAP, Told, world

LEVELS = np.random.default_rng(5).random(24)
FOUND = world(*(Told(f"p{number:02}", [(float(level),)]) for number, level in enumerate(LEVELS)))


def rated(values: np.ndarray[Any, Any], rater: str = "anna", **facts: Any) -> list[dict[str, Any]]:
    known = {"editor": "ours", "step": 1, "question": "score", "rater": rater, "source": "person", **facts}
    return [{**known, "case": f"p{n:02}/add-object/0", "value": float(value)} for n, value in enumerate(values)]


def table(*rows: list[dict[str, Any]]) -> dict[tuple[str, str, str], dict[str, Any]]:
    frame = pl.DataFrame([{key: row.get(key) for key in RATINGS} for part in rows for row in part], schema=RATINGS)
    found = agreement_table(FOUND.attempts, frame, BOOTSTRAP)
    return {(row["question"], row["rater"], row["measure"]): row for row in found.to_dicts()}


def test_a_person_who_says_the_same_agrees_perfectly_and_one_who_says_the_opposite_does_not() -> None:
    found = table(rated(LEVELS), rated(1 - LEVELS, "ben"))
    assert found["score", "anna", "spearman"]["value"] == pytest.approx(1)
    assert found["score", "anna", "krippendorff alpha"]["value"] == pytest.approx(1)
    assert found["score", "ben", "kendall"]["value"] == pytest.approx(-1)
    assert found["score", "anna", "spearman"]["n"] == 24


def test_several_people_are_also_held_against_the_judge_as_one() -> None:
    found = table(rated(LEVELS), rated(1 - LEVELS, "ben"), rated(LEVELS, "a-model", source="role"))
    assert found["score", "people", "spearman"]["value"] is None, "their mean never changes"
    assert found["score", "a-model", "spearman"]["source"] == "role"
    assert ("score", "people", "spearman") not in table(rated(LEVELS))


def test_a_rating_of_one_criterion_is_held_against_that_criterion() -> None:
    found = table(rated(LEVELS, question="seamlessness"), rated(LEVELS, question="judge-edit"))
    assert {key[0] for key in found} == {"seamlessness", "score"}


def test_few_ratings_give_a_reason_and_no_number() -> None:
    found = table(rated(LEVELS[:9]))
    row = found["score", "anna", "none"]
    assert (row["value"], row["n"]) == (None, 9)
    assert "10 are needed" in row["note"]


def test_ratings_of_other_steps_and_unanswered_ones_do_not_count() -> None:
    found = table(rated(LEVELS), rated(LEVELS, "ben", step=2), rated(np.full(24, np.nan), "carl"))
    assert found["score", "ben", "none"]["n"] == 0
    assert found["score", "anna", "spearman"]["n_missing"] == 0


def test_two_judges_are_compared_on_the_pictures_that_both_judged() -> None:
    noisy = np.clip(LEVELS + np.random.default_rng(6).normal(0, 0.1, LEVELS.size), 0, 1)
    other = world(*(Told(f"p{number:02}", [(float(level),)]) for number, level in enumerate(noisy[:20])))
    found = between_judges(FOUND.attempts, other.attempts, BOOTSTRAP, "other")
    (row,) = found.filter(pl.col("question") == "score", pl.col("measure") == "spearman").to_dicts()
    assert row["n"] == 20
    assert 0.7 < row["value"] < 1
    assert row["low"] < row["value"] < row["high"]
