"""The judge: histograms, noise, order, and replies that could not be read."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from convergebench.analysis.factory.judging import (
    disagreement,
    histogram_table,
    noise_table,
    pair_table,
    reply_table,
    turning,
)
from tests.analysis.factory.decided_world import BOOTSTRAP, UNREAD, Told, world


def test_every_judged_attempt_is_in_one_bin_and_the_last_bin_is_closed() -> None:
    found = world(Told("a", [(0.31, 1.0)]), Told("b", [(UNREAD, 0.72)]))
    table = histogram_table(found.edits, found.attempts)
    score = table.filter(pl.col("of") == "score", pl.col("n") > 0)
    assert score.select("low", "n", "accepted").rows() == [
        (pytest.approx(0.3), 1, 0),
        (pytest.approx(0.7), 1, 1),
        (pytest.approx(0.95), 1, 1),
    ]
    assert table.filter(pl.col("of") == "attempts").select("low", "n", "accepted").rows() == [(2.0, 2, 2)]


def test_noise_is_the_spread_within_edits_and_not_between_them() -> None:
    generator = np.random.default_rng(0)
    told = [
        Told(f"p{number}", [(level,)], spreads={1: (level + generator.normal(0, 0.05, 6)).tolist()})
        for number, level in enumerate([0.3, 0.5, 0.8, 0.95] * 50)
    ]
    (row,) = noise_table(world(*told).attempts, 0.7, BOOTSTRAP).to_dicts()
    assert row["sd"] == pytest.approx(0.05, rel=0.1)
    assert row["low"] < 0.05 < row["high"]
    assert row["between_sd"] > 0.2
    assert row["n_edits"] == 200


def test_judged_once_there_is_nothing_to_say_about_noise() -> None:
    assert noise_table(world(Told("a"), Told("b")).attempts, 0.7, BOOTSTRAP).height == 0


def test_two_replies_disagree_as_often_as_pairs_of_them_lie_on_both_sides() -> None:
    assert disagreement(np.array([0.6, 0.8, 0.9]), 0.7) == pytest.approx(2 / 3)
    assert disagreement(np.array([0.7, 0.7]), 0.7) == 0.0, "the threshold itself is not enough"


def test_disagreement_is_unbiased() -> None:
    """Four of ten replies accept: two draws disagree with probability 2 · 0.4 · 0.6."""
    draws = np.random.default_rng(1).random((20_000, 3)) < 0.4
    mean = np.mean([disagreement(np.where(one, 0.9, 0.1), 0.7) for one in draws])
    assert mean == pytest.approx(0.48, abs=0.01)


def test_a_decision_turns_as_often_as_a_new_draw_says() -> None:
    generator = np.random.default_rng(2)
    truth = generator.normal(0.7, 0.05, 40_000)
    old, new = (truth + generator.normal(0, 0.04, (4, truth.size)).mean(axis=0) for _ in range(2))
    turned = ((old > 0.7) != (new > 0.7)).mean()
    assert turning(old - 0.7, 0.04, np.full(truth.size, 4)).mean() == pytest.approx(turned, abs=0.02)
    assert turning(np.array([0.1]), 0.0, np.array([3])) == 0


def pair(first: float | None, second: float | None) -> tuple[str, dict[str, object]]:
    return "pair", {"turn": 1, "chosen": "c", "rejected": "r", "chosen_first": first, "chosen_second": second}


def test_a_judge_who_prefers_what_comes_first_is_found_out() -> None:
    told = [Told(f"p{number}", more=[pair(0.9, 0.1)]) for number in range(8)]
    (row,) = pair_table(world(*told).chains, BOOTSTRAP).to_dicts()
    assert (row["consistent"], row["first_preferred"], row["agrees"]) == (0.0, pytest.approx(0.9), 0.0)


def test_a_judge_who_does_not_mind_the_order_is_consistent() -> None:
    told = [Told(f"p{number}", more=[pair(0.9, 0.8)]) for number in range(8)] + [Told("q", more=[pair(None, 0.8)])]
    (row,) = pair_table(world(*told).chains, BOOTSTRAP).to_dicts()
    assert (row["consistent"], row["agrees"], row["n_pairs"], row["n_missing"]) == (1.0, 1.0, 8, 1)
    assert row["first_preferred"] == pytest.approx(0.55)


def test_repeated_questions_and_those_without_a_value_are_counted_per_role() -> None:
    found = world(Told("a", [(UNREAD, 0.9)]), Told("b", unwritten=True))
    counts = {row["role"]: row for row in reply_table(found.chains).to_dicts()}
    assert [counts["judge"][key] for key in ("questions", "asked_again", "unparsed")] == [2, 2, 1]
    assert [counts["writer"][key] for key in ("questions", "asked_again", "unparsed")] == [2, 2, 1]
    assert [counts["rewriter"][key] for key in ("questions", "asked_again", "unparsed")] == [1, 0, 0]
