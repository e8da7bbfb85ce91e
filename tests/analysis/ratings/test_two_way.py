"""Means over raters × pictures: the variance in closed form, and intervals that hold what they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from benchmarks.rating_truth import WORLDS, holds
from benchmarks.rating_world import RatingWorld
from convergebench.analysis.ratings.two_way import cells, two_way_error, two_way_mean

NAN = np.nan


def parts_of(
    table: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray((table - np.nanmean(table)) / (~np.isnan(table)).sum())


def test_the_variance_is_that_of_the_analysis_of_variance() -> None:
    """With mean squares of raters, pictures and the rest: (MS_r + MS_p − MS_e) / N."""
    draw = np.random.default_rng(0)
    table = draw.normal(0, 1, (6, 1)) + draw.normal(0, 1, (1, 8)) + draw.normal(0, 0.5, (6, 8))
    by_rater, by_picture = 8 * table.mean(axis=1).var(ddof=1), 6 * table.mean(axis=0).var(ddof=1)
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0, keepdims=True) + table.mean()
    noise = (rest**2).sum() / (5 * 7)
    found = two_way_error(parts_of(table))
    assert found is not None
    assert found.error**2 == pytest.approx((by_rater + by_picture - noise) / 48)


def test_it_is_unbiased_where_both_vary() -> None:
    draw = np.random.default_rng(1)
    found, means = [], []
    for _ in range(1500):
        table = draw.normal(0, 0.7, (6, 1)) + draw.normal(0, 0.9, (1, 8)) + draw.normal(0, 0.5, (6, 8))
        error = two_way_error(parts_of(table))
        assert error is not None
        found.append(error.error**2)
        means.append(table.mean())
    truth = 0.7**2 / 6 + 0.9**2 / 8 + 0.5**2 / 48
    assert np.mean(found) == pytest.approx(truth, rel=0.06)
    assert np.var(means) == pytest.approx(truth, rel=0.12)


def test_raters_who_all_say_the_same_leave_students_t_over_pictures() -> None:
    column = np.random.default_rng(2).normal(1, 1, 9)
    found = two_way_mean(np.tile(column, (200, 1)), 0.95)
    classic = ttest_1samp(column, 0)
    ends = classic.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), rel=1e-6)
    assert found.p == pytest.approx(classic.pvalue, rel=1e-4)


def test_a_gap_changes_little_and_full_tables_agree_with_the_general_formula() -> None:
    table = np.random.default_rng(3).normal(3, 1, (8, 8))
    full = two_way_mean(table, 0.95)
    table[2, 5] = NAN
    gap = two_way_mean(table, 0.95)
    assert gap.value == pytest.approx(full.value, abs=0.06)
    assert gap.low == pytest.approx(full.low, abs=0.12)


def test_copies_of_one_answer_add_no_certainty() -> None:
    draw = np.random.default_rng(4)
    values, raters, pictures = draw.normal(0, 1, 48), list("abcdef") * 8, [f"p{n // 6}" for n in range(48)]
    once = two_way_mean(cells(values, raters, pictures), 0.95)
    again = two_way_mean(cells(np.tile(values, 5), raters * 5, pictures * 5), 0.95)
    assert again[:4] == pytest.approx(once[:4])


def test_too_few_raters_or_pictures_have_a_mean_and_no_interval() -> None:
    table = np.random.default_rng(5).normal(3, 1, (9, 9))
    for few in (table[:2], table[:, :4], table[:1, :1]):
        found = two_way_mean(few, 0.95)
        assert found.value == pytest.approx(few.mean())
        assert (found.low, found.high, found.p) == (None, None, None)
    assert two_way_mean(np.full((3, 5), NAN), 0.95).value is None


def test_answers_that_are_all_alike_prove_no_more_than_their_signs() -> None:
    found = two_way_mean(np.full((3, 9), 1.0), 0.95)
    assert (found.low, found.high, found.p) == (1, 1, 0.25)
    assert two_way_mean(np.zeros((5, 9)), 0.95).p == 1


def test_ends_stay_on_the_scale() -> None:
    table = np.full((4, 6), 5.0)
    table[0, 0] = 3
    found = two_way_mean(table, 0.95, bounds=(0, 5))
    assert found.high == 5


@pytest.mark.parametrize("name", ["usual", "near the top", "raters differ much", "pictures differ much"])
@pytest.mark.parametrize("size", [(5, 5), (10, 10)])
def test_intervals_hold_the_truth(name: str, size: tuple[int, int]) -> None:
    """The long version is `python -m benchmarks.rating_truth`."""
    world: RatingWorld = WORLDS[name]
    draw, truth = np.random.default_rng(6), world.true_means()
    held = np.zeros(2)
    for _ in range(200):
        scores = world.scores(draw, *size)
        mean, apart = (two_way_mean(one, 0.95) for one in (scores[..., 1], scores[..., 1] - scores[..., 3]))
        held += holds(mean.low, truth[1], mean.high), holds(apart.low, truth[1] - truth[3], apart.high)
    assert held.min() / 200 >= 0.88


def test_an_interval_over_pictures_alone_would_not() -> None:
    """Why raters are a sample too: where they differ, the spread of pictures says nothing of it."""
    world = RatingWorld(rater=0.8)
    draw, truth = np.random.default_rng(7), world.true_means()
    held = 0
    for _ in range(200):
        column = world.scores(draw, 6, 12)[..., 1].mean(axis=0)
        ends = ttest_1samp(column, 0).confidence_interval(0.95)
        held += holds(ends.low, truth[1], ends.high)
    assert held / 200 < 0.8
