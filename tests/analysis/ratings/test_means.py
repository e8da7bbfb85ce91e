"""Means on pictures that all methods have, differences within raters, and ranks that say which answer is best."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

from convergebench.analysis.ratings.means import contrast_rows, distribution_table, means_table
from convergebench.analysis.ratings.result import frame


def answers(values: dict[tuple[str, str, str], float], question: str = "score") -> pl.DataFrame:
    """(rater, picture, editor) → value."""
    return pl.DataFrame(
        [
            {"rater": rater, "source": picture, "item": picture, "editor": editor, "question": question, "value": value}
            for (rater, picture, editor), value in values.items()
        ],
        schema_overrides={"value": pl.Float64},
    )


def panel(seed: int, **means: float) -> dict[tuple[str, str, str], float]:
    """Six raters of different strictness on eight pictures."""
    draw = np.random.default_rng(seed)
    strict = dict(zip("abcdef", draw.normal(0, 1, 6), strict=True))
    return {
        (rater, f"p{place}", editor): float(np.clip(round(mean + strict[rater] + draw.normal(0, 0.5)), 0, 5))
        for rater, place, (editor, mean) in product(strict, range(8), means.items())
    }


def test_a_mean_is_over_pictures_that_every_method_has() -> None:
    values = panel(0, one=3, two=2)
    values = {key: value for key, value in values.items() if key[1:] not in {("p0", "two"), ("p1", "one")}}
    table = means_table(answers(values), answers(values), 0.95)
    both = [key for key in values if key[1] not in ("p0", "p1")]
    for row in table.iter_rows(named=True):
        assert row["mean"] == pytest.approx(np.mean([values[key] for key in both if key[2] == row["editor"]]))
        assert (row["n_ratings"], row["n_raters"], row["n_sources"]) == (36, 6, 6)
        assert row["low"] < row["mean"] < row["high"]
    assert table["editor"].to_list() == ["one", "two"]
    assert table["rank"].to_list() == [1, 2]


def test_a_method_that_was_only_just_begun_has_no_rank_and_costs_the_others_nothing() -> None:
    values = panel(1, one=3, two=2, new=4)
    values = {key: value for key, value in values.items() if key[2] != "new" or key[1] == "p0"}
    table = means_table(answers(values), answers(values), 0.95)
    assert dict(table.select("editor", "rank").iter_rows()) == {"one": 1, "two": 2, "new": None}
    assert dict(table.select("editor", "n_sources").iter_rows()) == {"one": 8, "two": 8, "new": 1}
    assert table["editor"].to_list()[-1] == "new"


def test_methods_without_a_picture_in_common_are_not_ranked() -> None:
    values = {key: value for key, value in panel(2, one=3, two=2).items() if (key[2] == "one") == (key[1] < "p4")}
    table = means_table(answers(values), answers(values), 0.95)
    assert table["rank"].to_list() == [None, None]
    assert contrast_rows(answers(values), 0.95) == []


def test_flagged_raters_are_counted_and_their_mean_is_told() -> None:
    values = panel(3, one=3, two=2)
    bad = {("z", f"p{place}", editor): 5.0 for place in range(8) for editor in ("one", "two")}
    table = means_table(answers(values), answers(values | bad), 0.95)
    row = table.filter(editor="two").row(0, named=True)
    assert row["n_left_out"] == 8
    assert row["mean"] < row["mean_all"]
    assert row["mean_all"] == pytest.approx(np.mean([v for k, v in (values | bad).items() if k[2] == "two"]))


def test_equal_means_share_a_rank() -> None:
    values = dict.fromkeys(panel(4, one=3, two=3), 3.0)
    table = means_table(answers(values), answers(values), 0.95)
    assert table["rank"].to_list() == [1, 1]
    assert table["low"].to_list() == table["high"].to_list() == [3, 3]


def test_where_zero_is_best_the_distance_from_zero_ranks() -> None:
    """`low` is always too little by 1, `mixed` by turns too little and too much by 2: a mean of 0 is not the best."""
    values = {}
    for rater, place in product("abcdef", range(8)):
        values[rater, f"p{place}", "low"] = -1.0
        values[rater, f"p{place}", "mixed"] = 2.0 if place % 2 else -2.0
    frame_ = answers(values, "detail")
    table = means_table(frame_, frame_, 0.95)
    assert table.select("editor", "mean", "distance", "rank").rows() == [("low", -1, 1, 1), ("mixed", 0, 2, 2)]
    (row,) = contrast_rows(frame_, 0.95)
    assert (row["better"], row["worse"], row["difference"]) == ("low", "mixed", 1)


def test_a_difference_is_within_raters_so_that_strictness_does_not_matter() -> None:
    values = panel(5, one=2.6, two=2.0)
    mean, difference = means_table(answers(values), answers(values), 0.95), contrast_rows(answers(values), 0.95)
    wide = mean["high"][0] - mean["low"][0]
    (row,) = difference
    assert (row["better"], row["worse"]) == ("one", "two")
    assert row["high"] - row["low"] < wide / 2
    assert row["significant"]
    assert row["low"] > 0


def test_the_better_one_comes_first_whatever_its_name() -> None:
    values = panel(6, alpha=1.5, zulu=3.5)
    (row,) = contrast_rows(answers(values), 0.95)
    assert (row["better"], row["worse"]) == ("zulu", "alpha")
    assert 0 < row["low"] < row["difference"] < row["high"]


def test_holm_is_over_the_pairs_of_a_question() -> None:
    rows = contrast_rows(answers(panel(7, one=3, two=2.7, three=2.4)), 0.95)
    raw = sorted(row["p"] for row in rows)
    assert min(row["p_holm"] for row in rows) == pytest.approx(3 * raw[0])
    assert all(row["p_holm"] >= row["p"] for row in rows)


def test_two_raters_give_a_difference_and_no_test() -> None:
    values = {key: value for key, value in panel(8, one=3, two=1).items() if key[0] in "ab"}
    (row,) = contrast_rows(answers(values), 0.95)
    assert row["difference"] > 1
    assert (row["p"], row["low"], row["significant"]) == (None, None, False)
    assert frame("rating_contrasts", [row])["p_holm"].to_list() == [None]


def test_the_distribution_has_every_answer_of_the_scale() -> None:
    table = distribution_table(answers({("a", "p", "one"): 5.0, ("b", "p", "one"): 2.0, ("c", "p", "one"): 2.5}))
    assert table["value"].to_list() == [0, 1, 2, 2.5, 3, 4, 5]
    assert table["share"].sum() == pytest.approx(1)
    assert table.filter(value=2.0)["n"].item() == 1
