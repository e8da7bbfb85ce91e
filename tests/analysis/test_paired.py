from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.analysis.paired import PairedDifference, compare_paired, smallest_p, sources_needed
from convergebench.analysis.permutation import all_swaps, swap_test
from convergebench.analysis.score import Score
from convergebench.analysis.trajectories import Floats

SCORE = Score(("ssim",), "gist").value


def mean(totals: Floats) -> Floats:
    return np.asarray(totals[..., 0] / totals[..., 1])


def of_values(values: Floats, **more: float) -> PairedDifference:
    """One case per source against zeros."""
    ones = np.ones(len(values))
    return compare_paired(
        np.column_stack([values, ones]),
        np.column_stack([0 * ones, ones]),
        mean,
        **more,  # type: ignore[arg-type]
    )


def rivals(generator: np.random.Generator, sources: int, worse: float = 1.0) -> tuple[Floats, Floats]:
    """Features of two editors on the same images; the second loses `worse` times as much."""
    counts = generator.integers(1, 4, size=sources).astype(np.float64)
    image = generator.normal(size=sources)
    found = []
    for factor in (1.0, worse):
        loss = factor * 0.15 * np.exp(0.4 * image[:, None] + 0.4 * generator.normal(size=(sources, 2)))
        found.append(np.column_stack([counts[:, None] * (1 - loss), counts]))
    return found[0], found[1]


def test_a_hand_example_is_exact() -> None:
    # six differences of one sign: only none and all of the 64 swaps are as extreme
    pair = of_values(np.array([1.0, 2, 3, 4, 5, 6]))
    assert (pair.p, pair.exact, pair.n_sources) == (2 / 64, True, 6)
    assert pair.difference == pytest.approx(3.5)
    # four of the 64 are 5 % or more: beside none and all, source 1 against the others is the lowest mean, 6 the highest
    assert [pair.low, pair.high] == pytest.approx([1, 6])
    # 1, 2, −3 sum to 0: every swap is as extreme
    assert of_values(np.array([1.0, 2, -3])).p == 1


def test_the_ends_are_where_the_test_of_a_shifted_difference_changes_its_mind() -> None:
    values = np.random.default_rng(4).normal(1, 1, 9)
    pair = of_values(values)
    for end, inwards in ((pair.low, 1), (pair.high, -1)):
        assert of_values(values - end - inwards * 1e-6).p >= 0.05
        assert of_values(values - end + inwards * 1e-6).p < 0.05


@given(st.integers(0, 10**6), st.integers(1, 11))
@settings(max_examples=150, deadline=None)
def test_for_means_p_is_that_of_swapping_to_the_last_digit(seed: int, sources: int) -> None:
    one, other = (features[:, [0, 2]] for features in rivals(np.random.default_rng(seed), sources))
    assert compare_paired(one, other, mean).p == swap_test(one, other, mean).p


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=10))
@settings(max_examples=100, deadline=None)
def test_ties_count_as_extreme_whatever_rounding_makes_of_them(tenths: list[int]) -> None:
    values = np.array(tenths) / 10
    ones = np.ones(values.size)
    expected = swap_test(np.column_stack([values, ones]), np.column_stack([0 * ones, ones]), mean)
    assert of_values(values).p == expected.p


@pytest.mark.parametrize("seed", range(4))
def test_over_all_swaps_of_one_data_set_p_is_as_small_as_it_says_no_more_often(seed: int) -> None:
    # parts from all over their range, where the score is far from straight
    generator = np.random.default_rng(seed)
    one, other = (np.column_stack([generator.beta(0.7, 0.7, size=(6, 2)), np.ones(6)]) for _ in range(2))
    found = []
    for swap in all_swaps(6)[:, :, None] > 0:
        found.append(compare_paired(np.where(swap, other, one), np.where(swap, one, other), SCORE).p)
    for p in found:
        assert np.mean(np.array(found) <= p) <= p + 1e-12


def test_for_the_score_p_is_close_to_that_of_swapping_whole_sums() -> None:
    generator = np.random.default_rng(5)
    for _ in range(100):
        one, other = rivals(generator, int(generator.integers(8, 12)), 1.3)
        assert compare_paired(one, other, SCORE).p == pytest.approx(swap_test(one, other, SCORE).p, abs=0.02)


@given(
    st.integers(0, 10**9),
    st.integers(1, 18),
    st.sampled_from([1.0, 1.5, 3.0, 6.0, 9.0]),
    st.sampled_from([0.8, 0.9, 0.95, 0.99]),
)
@settings(max_examples=2000, deadline=None)
def test_zero_is_outside_the_interval_exactly_if_the_test_says_so(
    seed: int, sources: int, worse: float, confidence: float
) -> None:
    one, other = rivals(np.random.default_rng(seed), sources, worse)  # large losses put an area below 0, a kink
    pair = compare_paired(one, other, SCORE, confidence=confidence, permutations=299, exact_up_to=8)
    assert pair.difference == pytest.approx(float(SCORE(one.sum(axis=0)) - SCORE(other.sum(axis=0))))
    if np.isnan(pair.low):
        assert np.isnan(pair.high)
        assert pair.p >= 1 - confidence
    else:
        assert (pair.low <= 0 <= pair.high) == (pair.p >= 1 - confidence)
        assert pair.low <= pair.difference <= pair.high


def test_turning_the_pair_round_turns_the_interval_round() -> None:
    for sources in (9, 20):
        one, other = rivals(np.random.default_rng(3), sources, 1.4)
        there, back = compare_paired(one, other, SCORE), compare_paired(other, one, SCORE)
        assert (back.difference, back.low, back.high) == pytest.approx((-there.difference, -there.high, -there.low))
        assert back.p == there.p
        assert back.spread == pytest.approx(there.spread)


def test_an_area_below_zero_on_the_way_does_not_make_a_difference_certain() -> None:
    # pooled quality is negative, where the score is flat; per image there is no agreement at all
    one = np.column_stack([[3.0, -1, 2, -2, 3, -1, 1, -1], np.ones(8), np.ones(8)])
    other = np.column_stack([np.full(8, -2.0), np.ones(8), np.ones(8)])
    pair = compare_paired(one, other, SCORE)
    assert pair.difference > 0
    assert pair.spread > 0
    assert pair.low < pair.difference < pair.high


def test_parts_that_cancel_at_the_pooled_mean_do_not_blow_up_the_spread() -> None:
    # there the second part is flat and the first all but equal, yet the second makes all of the difference
    def score(totals: Floats) -> Floats:
        return np.asarray(totals[..., 0] / totals[..., 2] + (totals[..., 1] / totals[..., 2]) ** 3)

    wobble = 0.1 * np.random.default_rng(6).normal(size=8)
    wobble -= wobble.mean() + 0.001
    one = np.column_stack([wobble, np.ones(8), np.ones(8)])
    other = np.column_stack([np.zeros(8), -np.ones(8), np.ones(8)])
    pair = compare_paired(one, other, score)
    assert pair.difference == pytest.approx(1.999)
    assert pair.p == smallest_p(8)
    assert pair.spread < 0.2
    assert 1.5 < pair.low < pair.high < 2.5


def test_images_that_all_tell_the_same_leave_no_doubt_about_the_difference() -> None:
    # from an area below 0, where the score has a kink, and with uneven numbers of cases
    cases = np.array([1.0, 2, 3, 1, 2, 3, 4])[:, None]
    one, other = cases * [0.1, 0.8, 1.0], cases * [-0.5, 0.8, 1.0]
    pair = compare_paired(one, other, SCORE)
    assert [pair.difference, pair.low, pair.high] == pytest.approx([100 * np.sqrt(0.08)] * 3)
    assert pair.spread == pytest.approx(0, abs=1e-6)


def test_the_spread_is_that_between_images() -> None:
    values = np.random.default_rng(2).normal(3, 2, 11)
    assert of_values(values).spread == pytest.approx(values.std(ddof=1))
    # and with twice as many cases of every image the same
    cases = np.full(11, 2.0)
    double = compare_paired(np.column_stack([2 * values, cases]), np.column_stack([0 * cases, cases]), mean)
    assert double.spread == pytest.approx(values.std(ddof=1))
    assert np.isnan(of_values(values[:1]).spread)


def test_enumeration_and_sampling_agree() -> None:
    one, other = rivals(np.random.default_rng(8), 12, 1.2)
    every, some = (compare_paired(one, other, SCORE, exact_up_to=most, permutations=20_000) for most in (14, 0))
    assert (every.exact, some.exact) == (True, False)
    assert some.p == pytest.approx(every.p, abs=0.015)
    width = every.high - every.low
    assert [some.low, some.high] == pytest.approx([every.low, every.high], abs=0.03 * width)


def test_fewer_than_six_sources_have_no_interval_at_95_percent() -> None:
    for sources in range(1, 8):
        pair = of_values(np.arange(1.0, sources + 1))
        assert pair.p == smallest_p(sources)
        assert np.isnan(pair.low) == (sources < 6)
    assert np.isfinite(of_values(np.arange(1.0, 6), confidence=0.9).low)


def test_equal_editors_have_no_difference_and_p_one() -> None:
    one, _ = rivals(np.random.default_rng(0), 10)
    pair = compare_paired(one, one, SCORE)
    assert (pair.difference, pair.low, pair.high, pair.p, pair.spread) == (0, 0, 0, 1, 0)


def test_sources_without_a_case_and_no_sources_at_all_say_nothing() -> None:
    one, other = rivals(np.random.default_rng(1), 8, 1.5)
    gap = np.zeros((1, 3))
    assert compare_paired(np.vstack([one, gap]), np.vstack([other, gap]), SCORE) == compare_paired(one, other, SCORE)
    nothing = compare_paired(gap, gap, SCORE)
    assert (nothing.p, nothing.n_sources) == (1, 0)
    assert np.isnan([nothing.difference, nothing.low, nothing.high, nothing.spread]).all()


@pytest.mark.parametrize("sources", [6, 8, 12, 25])
def test_the_interval_covers_a_known_difference_and_the_test_keeps_its_level(sources: int) -> None:
    generator = np.random.default_rng(sources)
    worse = 1.4
    many = [features.sum(axis=0) for features in rivals(generator, 400_000, worse)]
    truth = float(SCORE(many[0]) - SCORE(many[1]))
    runs, held, alarms = 500, 0, 0
    for _ in range(runs):
        pair = compare_paired(*rivals(generator, sources, worse), SCORE, permutations=499)
        held += pair.low <= truth <= pair.high
        alarms += compare_paired(*rivals(generator, sources), SCORE, permutations=499).p < 0.05
    assert 0.92 <= held / runs <= 0.985
    assert alarms / runs < 0.075


def test_the_smallest_p_of_few_images() -> None:
    assert [smallest_p(sources) for sources in (0, 1, 2, 5, 6)] == [1, 1, 0.5, 0.0625, 0.03125]
    assert smallest_p(30) == 1 / 10_000
    # what was seen is one of the swaps that were drawn
    assert of_values(np.arange(1.0, 21), permutations=99).p == smallest_p(20, permutations=99) == 1 / 100
    assert smallest_p(15, exact_up_to=20) == 2.0**-14


@pytest.mark.parametrize(("size", "pairs"), [(0.5, 1), (1.0, 1), (1.0, 6), (2.5, 1)])
def test_so_many_sources_find_the_difference_as_often_as_asked(size: float, pairs: int) -> None:
    needed = sources_needed(2 * size, 2.0, pairs=pairs)
    assert needed is not None
    generator = np.random.default_rng(needed)
    found = [of_values(generator.normal(2 * size, 2, needed), permutations=1999).p < 0.05 / pairs for _ in range(400)]
    assert np.mean(found) >= 0.74
    # and with clearly fewer it would not be found as often
    fewer = int(0.7 * needed)
    missed = [of_values(generator.normal(2 * size, 2, fewer), permutations=1999).p < 0.05 / pairs for _ in range(400)]
    assert np.mean(missed) < 0.74


def test_what_it_takes_at_least_and_when_nothing_can_be_said() -> None:
    assert sources_needed(10, 0.001) == 6
    assert sources_needed(10, 0.0, pairs=10) == 9  # 2 of 512 swaps are under 0.05 / 10, 2 of 256 are not
    assert sources_needed(0, 1) is None
    assert sources_needed(1, float("nan")) is None
    assert sources_needed(float("nan"), 1) is None
    assert sources_needed(-1, 1) == sources_needed(1, 1)
    assert sources_needed(0.001, 1) == pytest.approx((1.96 + 0.8416) ** 2 * 1e6, rel=1e-3)
    near, far = sources_needed(0.0900, 1), sources_needed(0.0880, 1)  # either side of where t becomes normal
    assert near is not None
    assert far is not None
    assert near < far < 1.1 * near
