"""Bradley–Terry strengths equal choix's, and are never silently infinite."""

from __future__ import annotations

import choix
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from benchmarks.rating_truth import holds
from benchmarks.rating_world import RatingWorld
from convergebench.analysis.ratings.bradley_terry import core, fit, influences, reach
from convergebench.analysis.ratings.preferences import (
    pair_table,
    preference_contrasts,
    preference_model,
    preference_table,
)
from convergebench.analysis.trajectories import Floats

WINS = st.integers(2, 6).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, 8).map(lambda n: n / 2), min_size=size, max_size=size), min_size=size, max_size=size
    ).map(lambda rows: np.array(rows) * (1 - np.eye(size)))
)


@settings(deadline=None)
@given(WINS)
def test_strengths_are_those_of_choix(wins: Floats) -> None:
    """Half wins too: choix takes any non-negative matrix. A circle of half wins links all methods."""
    linked = wins + np.roll(np.eye(wins.shape[0]), 1, axis=1) / 2
    theirs = choix.ilsr_pairwise_dense(linked, alpha=0.0, max_iter=5000, tol=1e-10)
    assert core(linked).size == wins.shape[0]
    assert fit(linked).strengths == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def test_one_pair_in_closed_form() -> None:
    strengths = fit(np.array([[0, 9.0], [3.0, 0]])).strengths
    assert strengths == pytest.approx([np.log(3) / 2, -np.log(3) / 2])


@settings(deadline=None)
@given(WINS)
def test_a_core_has_finite_strengths_and_what_is_outside_has_none(wins: Floats) -> None:
    placed, over = core(wins), reach(wins)
    strengths = fit(wins[np.ix_(placed, placed)]).strengths
    assert np.isfinite(strengths).all()
    assert np.abs(strengths).max(initial=0) < 30
    outside = [number for number in range(wins.shape[0]) if number not in placed]
    for number in outside:
        assert not (over[number, placed[0]] and over[placed[0], number])


def test_influences_add_up_to_nothing_and_predict_a_left_out_answer() -> None:
    draw = np.random.default_rng(0)
    left, right = np.array([0, 1, 2] * 40), np.array([1, 2, 0] * 40)
    values = (draw.random(120) < expit(np.array([0.8, 0.0, -0.8])[left] - np.array([0.8, 0.0, -0.8])[right])) * 1.0

    def strengths(keep: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
        wins = np.zeros((3, 3))
        np.add.at(wins, (left[keep], right[keep]), values[keep])
        np.add.at(wins, (right[keep], left[keep]), 1 - values[keep])
        return fit(wins).strengths

    everything = np.ones(120, dtype=bool)
    wins = np.zeros((3, 3))
    np.add.at(wins, (left, right), values)
    np.add.at(wins, (right, left), 1 - values)
    parts = influences(fit(wins), left, right, values)
    assert parts.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-9)
    without = everything.copy()
    without[7] = False
    assert strengths(everything) - strengths(without) == pytest.approx(parts[:, 7], abs=0.01)


def pairs(*rows: tuple[str, str, float]) -> pl.DataFrame:
    """(left, right, value), each on a picture and by a rater of its own turn."""
    columns = [
        {"rater": f"r{place % 4}", "source": f"p{place % 6}", "left": left, "right": right, "value": value}
        for place, (left, right, value) in enumerate(rows)
    ]
    return pl.DataFrame(columns)


def test_a_method_that_never_loses_has_no_strength_and_the_first_place() -> None:
    table = preference_table(
        preference_model(pairs(*[("a", "b", 1.0), ("c", "a", 0.0), ("b", "c", 1.0), ("c", "b", 1.0)] * 6)), 0.95
    )
    first = table.row(0, named=True)
    assert (first["editor"], first["strength"], first["rank"]) == ("a", None, 1)
    assert first["note"].startswith("never lost")
    assert table["strength"].drop_nulls().to_list() == pytest.approx([0, 0], abs=1e-9)
    assert table["rank"].to_list() == [1, 2, 2]


def test_a_method_that_never_wins_comes_last() -> None:
    table = preference_table(preference_model(pairs(*[("a", "b", 1.0), ("b", "c", 1.0), ("b", "a", 1.0)] * 6)), 0.95)
    last = table.row(-1, named=True)
    assert (last["editor"], last["strength"], last["rank"]) == ("c", None, 3)
    assert last["note"].startswith("never won")


def test_islands_are_not_compared() -> None:
    rows = [("a", "b", 1.0), ("b", "a", 1.0), ("c", "d", 1.0), ("d", "c", 1.0), ("a", "e", 1.0), ("e", "b", 1.0)]
    model = preference_model(pairs(*rows * 5))
    table = preference_table(model, 0.95)
    apart = table.filter(pl.col("editor").is_in(["c", "d"])).to_dicts()
    assert [(row["strength"], row["rank"]) for row in apart] == [(None, None)] * 2
    assert all("no comparisons link it" in row["note"] for row in apart)
    assert pair_table(model).filter(editor="c", other="d")["expected"].to_list() == [None]


def test_two_methods_of_which_one_always_wins_say_so() -> None:
    table = preference_table(preference_model(pairs(*[("a", "b", 1.0)] * 20)), 0.95)
    assert table["strength"].to_list() == [None, None]
    assert all(table["note"].str.len_chars() > 0)
    assert preference_contrasts(preference_model(pairs(*[("a", "b", 1.0)] * 20)), 0.95) == []


def test_ties_are_half_a_win_each() -> None:
    model = preference_model(pairs(*[("a", "b", 0.5)] * 10, *[("b", "a", 0.0)] * 10, ("b", "a", 1.0)))
    row = preference_table(model, 0.95).filter(editor="a").row(0, named=True)
    assert (row["wins"], row["losses"], row["ties"], row["n"]) == (15, 6, 10, 21)
    assert row["strength"] == pytest.approx(np.log(15 / 6) / 2)
    pair = pair_table(model).filter(editor="a").row(0, named=True)
    assert pair["expected"] == pytest.approx(15 / 21)


def test_strengths_of_the_simulation_are_found_and_their_intervals_hold_them() -> None:
    world = RatingWorld()
    draw, truth = np.random.default_rng(3), fit(world.true_chances()).strengths
    held, errors = 0, []
    for _ in range(30):
        table = preference_table(preference_model(world.pairs(draw, 8, 8)), 0.95).sort("editor")
        errors.append(np.array(table["strength"].to_list()) - truth)
        held += sum(holds(*row) for row in zip(table["low"], truth, table["high"], strict=True))
    assert np.abs(np.mean(errors, axis=0)).max() < 0.15
    assert held / 150 >= 0.9


def test_without_effects_of_pictures_and_raters_strengths_are_the_means_themselves() -> None:
    world = RatingWorld(picture=0, on_picture=0, taste=0)
    assert fit(world.true_chances()).strengths == pytest.approx(np.array(world.means) - np.mean(world.means), abs=1e-6)
