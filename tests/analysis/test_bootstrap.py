from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.analysis.bootstrap import Bootstrap, by_source
from convergebench.analysis.trajectories import Floats, Ints


def clustered(generator: np.random.Generator, sources: int, cases: int) -> tuple[Floats, Ints]:
    """Cases of mean 0 whose variance is half between and half within sources."""
    between = np.repeat(generator.normal(size=sources), cases)
    values = (between + generator.normal(size=sources * cases)) / np.sqrt(2)
    return values[:, None], np.repeat(np.arange(sources), cases)


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_clustered_intervals_cover_and_naive_ones_do_not(kind: Literal["percentile", "bca"]) -> None:
    generator = np.random.default_rng(2)
    clustered_hits = naive_hits = 0
    for trial in range(300):
        values, sources = clustered(generator, 30, 8)
        bootstrap = Bootstrap(400, seed=trial, kind=kind)
        whole = bootstrap.ratio(*by_source(values, sources))
        naive = bootstrap.ratio(*by_source(values, np.arange(values.size)))
        clustered_hits += bool(whole.low[0] <= 0 <= whole.high[0])
        naive_hits += bool(naive.low[0] <= 0 <= naive.high[0])
    assert 0.90 <= clustered_hits / 300 <= 0.98
    assert naive_hits / 300 < 0.75


def test_bca_moves_the_interval_of_a_skewed_mean_towards_the_long_tail() -> None:
    values = np.random.default_rng(4).lognormal(0, 1.2, 25)[:, None]
    plain = Bootstrap(4000).ratio(values, np.ones((25, 1)))
    corrected = Bootstrap(4000, kind="bca").ratio(values, np.ones((25, 1)))
    assert corrected.low[0] > plain.low[0]
    assert corrected.high[0] > plain.high[0]


def test_bca_is_that_of_scipy() -> None:
    from scipy.stats import bootstrap

    values = np.random.default_rng(8).exponential(size=40)
    peer = bootstrap((values,), np.mean, n_resamples=20000, method="BCa", rng=np.random.default_rng(1))
    own = Bootstrap(20000, kind="bca").ratio(values[:, None], np.ones((40, 1)))
    assert own.low[0] == pytest.approx(peer.confidence_interval.low, abs=0.02)
    assert own.high[0] == pytest.approx(peer.confidence_interval.high, abs=0.02)


def test_missing_values_are_neither_counted_nor_zero() -> None:
    values = np.array([[1.0], [np.nan], [3.0], [np.nan]])
    sums, counts = by_source(values, np.array([0, 0, 1, 2]))
    assert sums.ravel().tolist() == [1, 3, 0]
    assert counts.ravel().tolist() == [1, 1, 0]
    assert Bootstrap().ratio(sums, counts).estimate[0] == 2


def test_one_source_has_an_estimate_and_no_interval() -> None:
    band = Bootstrap().ratio(np.array([[6.0, 0.0]]), np.array([[3.0, 0.0]]))
    assert band.estimate[0] == 2
    assert np.isnan([band.low[0], band.high[0], band.estimate[1]]).all()


def test_one_source_with_values_among_many_has_no_interval() -> None:
    band = Bootstrap().ratio(np.array([[4.0], [0.0], [0.0]]), np.array([[2.0], [0.0], [0.0]]))
    assert (band.estimate[0], np.isnan(band.low[0])) == (2, True)


def test_two_sources_give_their_own_range() -> None:
    band = Bootstrap().ratio(np.array([[1.0], [2.0]]), np.ones((2, 1)))
    assert (band.low[0], band.estimate[0], band.high[0]) == (1, 1.5, 2)


def test_the_seed_fixes_the_interval() -> None:
    sums = np.random.default_rng(0).normal(size=(12, 3))
    one, again, other = (Bootstrap(200, seed=seed).ratio(sums, np.ones((12, 3))) for seed in (1, 1, 2))
    assert np.array_equal(one.low, again.low)
    assert not np.array_equal(one.low, other.low)


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=12), st.floats(-3, 3), st.floats(0.1, 5))
@settings(max_examples=40, deadline=None)
def test_intervals_follow_a_change_of_unit(values: list[float], shift: float, scale: float) -> None:
    column = np.array(values)[:, None]
    ones = np.ones_like(column)
    before = Bootstrap(200).ratio(column, ones)
    after = Bootstrap(200).ratio(shift + scale * column, ones)
    assert after.low[0] == pytest.approx(shift + scale * before.low[0], abs=1e-9)
    assert after.high[0] == pytest.approx(shift + scale * before.high[0], abs=1e-9)
    assert column.min() - 1e-9 <= before.low[0] <= before.high[0] <= column.max() + 1e-9


def test_a_statistic_of_totals_matches_the_ratio_it_equals() -> None:
    values = np.random.default_rng(3).normal(size=(15, 1))
    both = np.hstack([values, np.ones((15, 1))])
    ratio = Bootstrap().ratio(values, np.ones((15, 1)))
    general = Bootstrap().statistic(both, lambda totals: totals[..., 0] / totals[..., 1])
    assert np.allclose(ratio, general)
