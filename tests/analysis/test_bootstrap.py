from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.analysis.bootstrap import FEWEST_SOURCES, Bootstrap, _quantiles, by_source
from convergebench.analysis.trajectories import Floats, Ints


def clustered(generator: np.random.Generator, sources: int, cases: int) -> tuple[Floats, Ints]:
    """Cases of mean 0 whose variance is half between and half within sources."""
    between = np.repeat(generator.normal(size=sources), cases)
    values = (between + generator.normal(size=sources * cases)) / np.sqrt(2)
    return values[:, None], np.repeat(np.arange(sources), cases)


Kind = Literal["corrected-t", "percentile", "bca"]
KINDS: tuple[Kind, ...] = ("corrected-t", "percentile", "bca")


@pytest.mark.parametrize("kind", KINDS)
def test_clustered_intervals_cover_and_naive_ones_do_not(kind: Kind) -> None:
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
    plain = Bootstrap(4000, kind="percentile").ratio(values, np.ones((25, 1)))
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


def test_quantiles_are_those_of_numpy_for_each_row_at_its_own_levels() -> None:
    drawn = np.random.default_rng(3).normal(size=(3, 7))
    drawn[1, 2:] = np.nan
    levels = np.array([[0.1, 0.9], [0.25, 0.5], [0.0, 1.0]])
    expected = [np.nanquantile(row, level) for row, level in zip(drawn, levels, strict=True)]
    assert _quantiles(drawn, levels) == pytest.approx(np.array(expected))


def test_missing_values_are_neither_counted_nor_zero() -> None:
    values = np.array([[1.0], [np.nan], [3.0], [np.nan]])
    sums, counts = by_source(values, np.array([0, 0, 1, 2]))
    assert sums.ravel().tolist() == [1, 3, 0]
    assert counts.ravel().tolist() == [1, 1, 0]
    assert Bootstrap().ratio(sums, counts).estimate[0] == 2


@pytest.mark.parametrize("kind", KINDS)
def test_fewer_than_five_sources_have_an_estimate_and_no_interval(kind: Kind) -> None:
    values = np.array([1.0, 2.0, 4.0, 3.0, 5.0])[:, None]
    both = np.hstack([values, np.ones_like(values)])
    bootstrap = Bootstrap(200, kind=kind)
    assert FEWEST_SOURCES == 5
    for sources in range(1, 6):
        ones = np.ones((sources, 1))
        for band in (
            bootstrap.ratio(values[:sources], ones),
            bootstrap.statistic(both[:sources], lambda totals: totals[..., 0] / totals[..., 1]),
        ):
            assert band.estimate[0] == values[:sources].mean()
            assert np.isnan([band.low[0], band.high[0]]).tolist() == [sources < 5] * 2
        assert np.isnan(bootstrap.share(ones, ones).low[0]) == (sources < 5)


def test_sources_without_a_case_do_not_count_as_sources() -> None:
    sums, counts = np.array([[4.0], [3.0], [5.0], [6.0], [0.0], [0.0]]), np.array([[2.0], [1], [2], [2], [0], [0]])
    both = np.hstack([sums, counts])
    for band in (
        Bootstrap().ratio(sums, counts),
        Bootstrap().share(np.minimum(sums, counts), counts),
        Bootstrap().statistic(both, lambda totals: totals[..., 0] / totals[..., 1]),
    ):
        assert np.isfinite(band.estimate[0])
        assert np.isnan([band.low[0], band.high[0]]).all()


def test_a_column_without_any_case_has_nothing() -> None:
    band = Bootstrap().ratio(np.zeros((6, 1)), np.zeros((6, 1)))
    assert np.isnan([*band.estimate, *band.low, *band.high]).all()


def test_without_skewness_it_is_students_interval() -> None:
    from scipy.stats import ttest_1samp

    values = np.array([-3.0, -2, -1, 1, 2, 3]) + 7
    peer = ttest_1samp(values, 0).confidence_interval(0.9)
    band = Bootstrap(confidence=0.9).ratio(values[:, None], np.ones((6, 1)))
    assert (band.low[0], band.high[0]) == (pytest.approx(peer.low, abs=1e-5), pytest.approx(peer.high, abs=1e-5))


def test_the_end_towards_the_long_tail_is_stretched_and_the_other_is_students() -> None:
    from scipy.stats import ttest_1samp

    values = 100 - np.array([1.0, 2, 2, 3, 4, 5, 9, 20])
    peer = ttest_1samp(values, 0).confidence_interval(0.95)
    band = Bootstrap().ratio(values[:, None], np.ones((8, 1)))
    assert band.low[0] < peer.low - 2
    assert band.high[0] == pytest.approx(peer.high)
    turned = Bootstrap().ratio(-values[:, None], np.ones((8, 1)))
    assert (turned.low[0], turned.high[0]) == (pytest.approx(-band.high[0]), pytest.approx(-band.low[0]))


@pytest.mark.parametrize(("sources", "least"), [(5, 0.90), (8, 0.93), (12, 0.93), (30, 0.93)])
def test_intervals_of_values_near_their_bound_hold_with_few_sources(sources: int, least: float) -> None:
    values = np.random.default_rng(sources).beta(9, 1, size=(sources, 4000))
    held = {}
    for kind in KINDS[:2]:
        band = Bootstrap(400, kind=kind).ratio(values, np.ones_like(values), bounds=(0, 1))
        held[kind] = np.mean((band.low <= 0.9) & (band.high >= 0.9))
    assert least <= held["corrected-t"] <= 0.97
    assert held["percentile"] < held["corrected-t"] - 0.02


def test_unequal_numbers_of_cases_are_worth_fewer_sources() -> None:
    generator = np.random.default_rng(0)
    counts = np.array([1.0, 1, 1, 1, 1, 1, 1, 9])[:, None] * np.ones((8, 4000))
    # one value per source, whatever the number of its cases: the worst case for it
    band = Bootstrap().ratio(generator.normal(size=counts.shape) * counts, counts)
    assert np.mean((band.low <= 0) & (band.high >= 0)) > 0.93


@pytest.mark.parametrize("kind", KINDS)
def test_equal_values_leave_no_uncertainty(kind: Kind) -> None:
    for value in (1.0, 0.9):
        counts = np.arange(1.0, 8)[:, None]
        sums = value * counts
        band = Bootstrap(200, kind=kind).ratio(sums, counts, bounds=(0, 1))
        assert band.low[0] == pytest.approx(value, abs=1e-12)
        assert band.high[0] == pytest.approx(value, abs=1e-12)
        assert band.low[0] <= band.estimate[0] <= band.high[0]
        if kind == "corrected-t":  # not even rounding
            assert band.low[0] == band.high[0]


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 5)), min_size=5, max_size=12), st.sampled_from(KINDS))
@settings(max_examples=150, deadline=None)
def test_intervals_stay_in_the_possible_range_and_hold_their_estimate(
    values: list[tuple[float, int]], kind: Kind
) -> None:
    counts = np.array([[count] for _, count in values], dtype=np.float64)
    sums = np.array([[value * count] for value, count in values])
    bootstrap = Bootstrap(100, kind=kind)
    both = np.hstack([sums, counts])
    for band in (
        bootstrap.ratio(sums, counts, bounds=(0.0, 1.0)),
        bootstrap.ratio(sums, counts, bounds=(np.zeros(1), np.ones(1))),
        bootstrap.statistic(both, lambda totals: totals[..., 0] / totals[..., 1], bounds=(0, 1)),
    ):
        assert -1e-12 <= band.low[0] <= band.estimate[0] <= band.high[0] <= 1 + 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_an_estimate_below_all_of_its_draws_is_still_in_its_interval(kind: Kind) -> None:
    values = np.array([-3.125, -1.25, 0.6875, 0.875, 1.125, 1.6875])  # 0 in all, and in hardly any draw
    both = np.column_stack([values, np.ones(6)])
    band = Bootstrap(200, kind=kind).statistic(both, lambda totals: (totals[..., 0] / totals[..., 1]) ** 2)
    assert band.low[0] <= band.estimate[0] == 0 <= band.high[0]


def test_an_end_short_of_half_way_to_the_bound_is_left_alone() -> None:
    values = np.array([0.5, 0.52, 0.48, 0.51, 0.47, 0.53])[:, None]
    free, bounded = (Bootstrap().ratio(values, np.ones((6, 1)), bounds=bounds) for bounds in ((-9, 9), (0, 1)))
    assert np.array_equal(free, bounded)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_the_seed_fixes_what_is_drawn(kind: Kind) -> None:
    sums = np.random.default_rng(0).normal(size=(12, 3))
    one, again, other = (Bootstrap(200, seed, kind=kind).ratio(sums, np.ones((12, 3))) for seed in (1, 1, 2))
    assert np.array_equal(one.low, again.low)
    assert not np.array_equal(one.low, other.low)


@given(
    st.lists(st.floats(-10, 10), min_size=5, max_size=12), st.floats(-3, 3), st.floats(0.1, 5), st.sampled_from(KINDS)
)
@settings(max_examples=60, deadline=None)
def test_intervals_follow_a_change_of_unit(values: list[float], shift: float, scale: float, kind: Kind) -> None:
    column = np.array(values).round(3)[:, None]
    ones = np.ones_like(column)
    before = Bootstrap(200, kind=kind).ratio(column, ones)
    after = Bootstrap(200, kind=kind).ratio(shift + scale * column, ones)
    assert after.low[0] == pytest.approx(shift + scale * before.low[0], abs=1e-6)
    assert after.high[0] == pytest.approx(shift + scale * before.high[0], abs=1e-6)
    if kind != "corrected-t":
        assert column.min() - 1e-9 <= before.low[0] <= before.high[0] <= column.max() + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_a_statistic_of_totals_matches_the_ratio_it_equals(kind: Kind) -> None:
    generator = np.random.default_rng(3)
    counts = generator.integers(1, 5, size=(15, 1)).astype(np.float64)
    sums = counts * generator.normal(size=(15, 1))
    ratio = Bootstrap(kind=kind).ratio(sums, counts)
    general = Bootstrap(kind=kind).statistic(np.hstack([sums, counts]), lambda totals: totals[..., 0] / totals[..., 1])
    assert np.allclose(ratio, general)


@pytest.mark.parametrize("sources", [5, 12, 40])
def test_all_or_none_is_no_certainty(sources: int) -> None:
    counts = np.full((sources, 2), 3.0)
    band = Bootstrap().share(counts * np.array([0.0, 1.0]), counts)
    assert band.estimate.tolist() == [0, 1]
    assert band.low[0] == 0
    assert band.high[1] == 1
    # cautious: as if each source were one case, since nothing says that they are more
    assert 3 / (3 * sources) < band.high[0] < 6 / sources
    assert band.low[1] == pytest.approx(1 - band.high[0])


def test_cases_that_agree_within_their_source_are_worth_one_each() -> None:
    hits = np.array([1.0, 0, 0, 1, 0, 0, 1, 0])[:, None]
    once = Bootstrap().share(hits, np.ones((8, 1)))
    often = Bootstrap().share(5 * hits, np.full((8, 1), 5.0))
    assert np.allclose(once, often)


def test_cases_that_differ_within_their_source_are_worth_more() -> None:
    counts = np.full((8, 1), 6.0)
    alike, mixed = (Bootstrap().share(hits, counts) for hits in (counts * ([[1], [0]] * 4), counts / 2))
    assert alike.estimate == mixed.estimate == 0.5
    assert mixed.high[0] - mixed.low[0] < 0.8 * (alike.high[0] - alike.low[0])


def test_with_many_sources_of_one_case_it_is_wilsons_interval() -> None:
    from scipy.stats import binomtest

    hits = (np.arange(2000) < 300).astype(np.float64)[:, None]
    peer = binomtest(300, 2000).proportion_ci(method="wilson")
    band = Bootstrap().share(hits, np.ones((2000, 1)))
    assert (band.low[0], band.high[0]) == (pytest.approx(peer.low, abs=1e-3), pytest.approx(peer.high, abs=1e-3))


@pytest.mark.parametrize("agreement", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("sources", [5, 8, 20, 50])
def test_intervals_of_shares_hold(sources: int, agreement: float) -> None:
    generator = np.random.default_rng(sources)
    for share in (0.02, 0.1, 0.5, 0.8):
        for cases in (1, 3, 5):
            chance: Floats | float = share
            if agreement:
                scale = (1 - agreement) / agreement
                chance = generator.beta(share * scale, (1 - share) * scale, size=(sources, 3000))
            hits = generator.binomial(cases, chance, size=(sources, 3000)).astype(np.float64)
            band = Bootstrap().share(hits, np.full(hits.shape, float(cases)))
            assert np.mean((band.low <= share) & (band.high >= share)) > 0.925


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=5, max_size=10), st.floats(0.6, 0.99))
@settings(max_examples=100, deadline=None)
def test_the_interval_of_a_share_is_inside_zero_and_one_and_holds_it(
    pairs: list[tuple[int, int]], confidence: float
) -> None:
    hits, counts = np.array([[(one, one + other)] for one, other in pairs], dtype=np.float64).transpose(2, 0, 1)
    band = Bootstrap(confidence=confidence).share(hits, counts)
    if (counts > 0).sum() < FEWEST_SOURCES:
        assert np.isnan(band.low[0])
    else:
        assert 0 <= band.low[0] <= band.estimate[0] <= band.high[0] <= 1
        assert band.high[0] - band.low[0] > 0.01
