from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.analysis.permutation import holm, swap_test
from convergebench.analysis.trajectories import Floats


def mean(totals: Floats) -> Floats:
    return np.asarray(totals[..., 0] / totals[..., 1])


def p_of(one: Floats, other: Floats, **more: int) -> float:
    ones = np.ones(one.size)
    return swap_test(np.column_stack([one, ones]), np.column_stack([other, ones]), mean, **more).p


def test_a_hand_example_is_exact() -> None:
    # differences 1, 2, 3, all of one sign: only two of the eight sign patterns are as extreme
    assert p_of(np.array([2.0, 3.0, 4.0]), np.ones(3)) == pytest.approx(2 / 8)
    # 1, 2, −3 sum to 0: every pattern is as extreme
    assert p_of(np.array([1.0, 2.0, -3.0]), np.zeros(3)) == 1


def test_enumeration_and_sampling_agree() -> None:
    generator = np.random.default_rng(0)
    one = generator.normal(0.4, 1, 12)
    exact = p_of(one, np.zeros(12))
    sampled = p_of(one, np.zeros(12), exact_up_to=0, permutations=20000)
    assert sampled == pytest.approx(exact, abs=0.015)


def test_one_source_can_show_nothing() -> None:
    assert p_of(np.array([9.0]), np.array([1.0])) == 1


def test_equal_editors_have_p_one() -> None:
    values = np.random.default_rng(0).normal(size=30)
    assert p_of(values, values) == 1


def test_the_size_is_the_level_under_no_effect() -> None:
    generator = np.random.default_rng(1)
    values = [p_of(generator.normal(size=10), generator.normal(size=10)) for _ in range(600)]
    assert 0.03 <= np.mean(np.array(values) <= 0.05) <= 0.07


def test_the_power_is_that_of_a_known_effect() -> None:
    # paired differences N(0.5, 1) over 30 sources: a t test finds them in 75% of experiments
    generator = np.random.default_rng(2)
    found = [p_of(generator.normal(0.5, 1, 30), np.zeros(30), permutations=999) <= 0.05 for _ in range(300)]
    assert 0.67 <= np.mean(found) <= 0.83


def test_the_test_is_symmetric() -> None:
    generator = np.random.default_rng(3)
    one, other = generator.normal(size=(2, 9))
    assert p_of(one, other) == p_of(other, one)


def test_holm_on_a_hand_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_between_the_raw_p_and_bonferroni_and_keeps_their_order(values: list[float]) -> None:
    adjusted = holm(values)
    for raw, found in zip(values, adjusted, strict=True):
        assert raw <= found + 1e-12
        assert found <= min(1.0, len(values) * raw) + 1e-12
    order = np.argsort(values, kind="stable")
    assert np.all(np.diff(np.array(adjusted)[order]) >= 0)
