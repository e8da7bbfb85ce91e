"""Raters who do not look are found; noise, strictness and a taste of one's own are not held against anybody."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from benchmarks.rating_truth import panel
from benchmarks.rating_world import HONEST, Kind, Mode, RatingWorld, ratings, study
from convergebench.analysis.ratings.answers import read_answers
from convergebench.analysis.ratings.flags import raters_table


def last(kind: Kind, mode: Mode = "score", *, raters: int = 8, pictures: int = 12, seed: int = 1) -> dict[str, object]:
    """The row of one rater of this kind among honest ones."""
    kinds: list[Kind] = [*["honest"] * (raters - 1), kind]  # type: ignore[list-item]
    return (
        panel(np.random.default_rng(seed), kinds, pictures, mode).filter(rater=f"rater-{raters - 1}").row(0, named=True)
    )


@pytest.mark.parametrize(
    ("kind", "mode", "word"),
    [
        ("random", "score", "nothing in common"),
        ("constant", "score", "same answer"),
        ("constant", "preference", "same answer"),
        ("reversed", "score", "reversed"),
        ("reversed", "preference", "reversed"),
        ("left", "preference", "left side"),
    ],
)
def test_raters_who_cheat_are_found_and_told_apart(kind: Kind, mode: Mode, word: str) -> None:
    row = last(kind, mode)
    assert row["flagged"]
    assert word in str(row["why"])


@pytest.mark.parametrize(("kind", "way"), [("strict", "lower"), ("generous", "higher")])
def test_a_bias_is_told_and_no_reason_to_leave_somebody_out(kind: Kind, way: str) -> None:
    row = last(kind)
    assert not row["flagged"]
    assert way in str(row["why"])
    assert "allowed" in str(row["why"])


def test_a_taste_of_ones_own_counts_where_repeats_show_it() -> None:
    draw = np.random.default_rng(2)
    kinds: list[Kind] = [*["honest"] * 7, "dissenter"]  # type: ignore[list-item]
    for repeats, flagged in ((20, False), (0, True)):
        given = study(ratings(draw, kinds, 20, repeats=repeats), 20)
        row = raters_table(read_answers(given.ratings, given.chains)).filter(rater="rater-7").row(0, named=True)
        assert abs(row["agreement"]) < 0.3
        assert row["flagged"] is flagged


@pytest.mark.parametrize("mode", ["score", "preference"])
def test_honest_raters_are_rarely_flagged(mode: Mode) -> None:
    draw = np.random.default_rng(3)
    kinds = [kind for kind in HONEST if kind != "dissenter"] * 3
    flagged = sum(int(panel(draw, kinds, 8, mode)["flagged"].sum()) for _ in range(8))
    assert flagged <= 0.05 * 8 * len(kinds)


def test_most_random_raters_are_found_in_a_small_panel() -> None:
    found = sum(bool(last("random", raters=5, pictures=10, seed=seed)["flagged"]) for seed in range(12))
    assert found >= 8


def test_failing_attention_items_is_enough() -> None:
    draw = np.random.default_rng(4)
    rows = ratings(draw, ["honest"] * 4, 6, attention=4)
    wrong = pl.col("rater").eq("rater-2") & pl.col("editor").is_in(["clean", "input"])
    turned = rows.with_columns(pl.when(wrong).then(5 - pl.col("value")).otherwise("value").alias("value"))
    given = study(turned, 6)
    table = raters_table(read_answers(given.ratings, given.chains))
    assert table.filter("flagged")["rater"].to_list() == ["rater-2"]
    assert "attention" in table.filter("flagged")["why"][0]


def test_one_slip_is_forgiven() -> None:
    rows = ratings(np.random.default_rng(5), ["honest"] * 4, 6, attention=4)
    first = (pl.col("editor") == "clean") & (pl.col("case") == "picture-0/LF3/0")
    given = study(rows.with_columns(pl.when(first).then(0.0).otherwise("value").alias("value")), 6)
    table = raters_table(read_answers(given.ratings, given.chains))
    assert table["attention_failed"].to_list() == [1] * 4
    assert not table["flagged"].any()


def test_nobody_is_judged_by_a_handful_of_answers() -> None:
    rows = ratings(np.random.default_rng(6), ["honest", "honest", "honest", "random"], 1, attention=0, repeats=0)
    given = study(rows, 1)
    table = raters_table(read_answers(given.ratings, given.chains))
    assert not table["flagged"].any()
    assert all("too few" in why for why in table["why"])


def test_where_everybody_gives_the_same_answer_nobody_is_flagged_for_it() -> None:
    rows = ratings(np.random.default_rng(7), ["honest"] * 5, 6, world=RatingWorld(means=(9.0,) * 5), attention=0)
    given = study(rows, 6)
    table = raters_table(read_answers(given.ratings, given.chains))
    assert min(table["same_answer"]) == 1
    assert not table["flagged"].any()


def test_numbers_of_a_rater_are_what_they_are_called() -> None:
    row = last("generous", pictures=20)
    assert (row["n"], row["attention"], row["repeats"]) == (100, 4, 6)
    assert 0.15 < float(str(row["bias"])) < 0.5
    assert 0.4 < float(str(row["agreement"])) < 0.95
    assert 2 < float(str(row["seconds"])) < 12
    assert row["left_side"] is None
    pair = last("honest", "preference")
    assert (pair["bias"], pair["spread"]) == (None, None)
    assert 0.3 < float(str(pair["left_side"])) < 0.7
