"""Confidence sequences by betting: exact for small suites, equal to a slow second version, honest under peeking."""

from __future__ import annotations

from itertools import permutations
from math import inf

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from convergebench.analysis.sequential.betting import (
    FRACTIONS,
    Method,
    anytime_p,
    bounds,
    capital,
    lower_end,
    lower_ends,
)

METHODS: tuple[Method, ...] = ("suite", "bounded", "symmetric")
SUITE = (-0.9, -0.2, 0.0, 0.3, 0.8, 1.0)


def plainly(values: list[float], mean: float, method: Method, images: int) -> list[float]:
    """The capital after every value, bet by bet."""
    purses, found, certain = [1 / len(FRACTIONS)] * len(FRACTIONS), [], False
    for place, value in enumerate(values):
        before = values[:place]
        if method == "symmetric":
            reach = max(abs(one - mean) for one in values[: place + 1])
            won = (value - mean) / reach if reach else 0.0
        else:
            expected = (images * mean - sum(before)) / (images - place) if method == "suite" else mean
            won = (value - expected) / (expected + 1) if expected > -1 else 0.0
        purses = [purse * (1 + part * won) for purse, part in zip(purses, FRACTIONS, strict=True)]
        best_case = images * mean - sum(before) - value
        certain |= method == "suite" and best_case < -(images - place - 1) - 1e-12
        found.append(inf if certain else sum(purses))
    return found


@pytest.mark.parametrize("method", METHODS)
def test_the_capital_equals_that_of_a_gambler_who_bets_one_by_one(method: Method) -> None:
    generator = np.random.default_rng(1)
    for _ in range(50):
        images = int(generator.integers(3, 12))
        values = generator.uniform(-1, 1, int(generator.integers(1, images + 1)))
        mean = float(generator.uniform(-0.9, 0.9))
        assert capital(values, mean, method, images) == pytest.approx(plainly(list(values), mean, method, images))


def test_over_all_orders_of_a_suite_the_capital_neither_grows_nor_shrinks() -> None:
    """The exact reason why the error rate holds: at the true mean the capital is a martingale, whatever the values."""
    orders = np.array(list(permutations(SUITE)))
    grown = capital(orders, float(np.mean(SUITE)), "suite", len(SUITE))
    assert grown[:, :-1].mean(axis=0) == pytest.approx(1.0)


@pytest.mark.parametrize("error", [0.05, 0.2, 0.5])
def test_over_all_orders_the_interval_misses_the_mean_at_no_look_more_often_than_stated(error: float) -> None:
    true = float(np.mean(SUITE))
    missed = 0
    orders = [np.array(order) for order in permutations(SUITE)][::17]
    for order in orders:
        low, high = (lower_ends(side, error / 2, "suite", len(SUITE)) for side in (order, -order))
        missed += bool((low > true + 1e-9).any() or (-high < true - 1e-9).any())
    assert missed / len(orders) <= error


def test_symmetric_differences_make_the_capital_a_martingale_too() -> None:
    sizes = np.array([0.1, 0.7, 0.02, 0.5])
    signs = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T
    assert capital(0.2 + signs * sizes, 0.2, "symmetric").mean(axis=0) == pytest.approx(1.0)


@pytest.mark.parametrize("method", METHODS)
def test_the_capital_never_rises_with_the_mean(method: Method) -> None:
    values = np.random.default_rng(3).uniform(-1, 1, 9)
    means = np.linspace(-0.99, 0.99, 60)
    grown = np.array([capital(values, mean, method, 9) for mean in means])
    assert (grown[1:] <= grown[:-1] + 1e-9).all()


@pytest.mark.parametrize("method", ["suite", "bounded"])
def test_lower_values_never_mean_more_capital(method: Method) -> None:
    """So bounds may stand in for values that are not known yet."""
    generator = np.random.default_rng(4)
    for _ in range(100):
        values = generator.uniform(-1, 1, 8)
        lower = np.maximum(-1, values - generator.uniform(0, 1, 8) * (generator.random(8) < 0.4))
        assert (capital(lower, 0.1, method, 10) <= capital(values, 0.1, method, 10) + 1e-9).all()
        assert lower_end(lower, 0.05, method, 10) <= lower_end(values, 0.05, method, 10) + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_the_ends_are_where_a_fine_grid_puts_them(method: Method) -> None:
    values = np.random.default_rng(5).normal(0.3, 0.2, 30).clip(-1, 1)
    low, high = bounds(values, values, 0.05, method, 40)
    grid = np.linspace(-1, 1, 1001)
    kept = [
        mean
        for mean in grid
        if capital(values, mean, method, 40).max() < 40 and capital(-values, -mean, method, 40).max() < 40
    ]
    assert [low, high] == pytest.approx([min(kept), max(kept)], abs=2.1e-3)
    assert low < values.mean() < high


@pytest.mark.parametrize("method", METHODS)
def test_the_ends_after_every_value_are_those_of_the_values_so_far(method: Method) -> None:
    values = np.random.default_rng(8).normal(0.2, 0.3, 12).clip(-1, 1)
    alone = [lower_end(values[:count], 0.05, method, 20) for count in range(1, 13)]
    assert lower_ends(values, 0.05, method, 20) == pytest.approx(alone)


def test_a_whole_suite_is_known_exactly_even_with_three_images() -> None:
    values = np.array([0.2, -0.1, 0.05])
    assert list(bounds(values, values, 0.05, "suite", 3)) == pytest.approx([0.05, 0.05])
    assert list(bounds(values[:2], values[:2], 0.05, "suite", 3)) == pytest.approx([-0.3, 1.1 / 3])
    assert bounds(values, values, 0.05, "symmetric")[0] < -0.9


def test_equal_editors_are_found_to_be_equal() -> None:
    nothing = np.zeros(100)
    for method, enough in (("suite", 80), ("symmetric", 10)):
        low, high = bounds(nothing[:enough], nothing[:enough], 0.05, method, 100)  # type: ignore[arg-type]
        assert -0.05 < low <= 0 <= high < 0.05
    assert bounds(nothing[:0], nothing[:0], 0.05, "suite", 100) == (-1, 1)


def test_p_is_small_exactly_where_the_interval_excludes_no_difference() -> None:
    generator = np.random.default_rng(6)
    found = set()
    for _ in range(12):
        values, images = (
            generator.normal(generator.uniform(0, 0.6), 0.2, 15).clip(-1, 1),
            int(generator.integers(15, 50)),
        )
        for method in METHODS:
            low, high = bounds(values, values, 0.05, method, images)
            small = anytime_p(values, values, method, images) <= 0.05
            assert small == (low > 0 or high < 0)
            found.add(small)
    assert found == {True, False}


@pytest.mark.parametrize("method", ["suite", "bounded"])
def test_looking_after_every_image_keeps_the_error_rate_where_a_t_test_loses_it(method: Method) -> None:
    """Skewed differences of mean zero: one image in ten speaks loudly for the other editor."""
    generator, images, runs = np.random.default_rng(7), 40, 300
    loud = np.where(generator.random((runs, images)) < 0.1, -0.9, 0.1)
    true = loud.mean(axis=1) if method == "suite" else np.zeros(runs)
    wrong = 0
    for row, mean in zip(loud, true, strict=True):
        below = capital(row, float(mean), method, images)[:-1].max() >= 40
        wrong += below or capital(-row, -float(mean), method, images)[:-1].max() >= 40
    assert wrong / runs <= 0.05
    even = generator.normal(0, 0.1, (runs, images))
    peeked = sum(min(ttest_1samp(row[:count], 0).pvalue for count in range(5, images, 3)) < 0.05 for row in even[:60])
    assert peeked > 7
