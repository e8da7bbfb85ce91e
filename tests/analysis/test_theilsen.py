from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import theilslopes

from convergebench.analysis.theilsen import theil_sen


def test_the_slope_is_that_of_scipy() -> None:
    generator = np.random.default_rng(1)
    for count in (4, 5, 7, 12, 20):
        rounds = np.sort(generator.choice(40, count, replace=False))
        values = generator.normal(size=count)
        found = theil_sen(rounds, values)
        assert found is not None
        assert found.value == pytest.approx(theilslopes(values, rounds).slope, abs=1e-12)


@given(slope=st.floats(-2, 2), start=st.floats(-5, 5), count=st.integers(4, 20))
@settings(max_examples=30, deadline=None)
def test_a_straight_line_has_its_slope_and_no_width(slope: float, start: float, count: int) -> None:
    rounds = np.arange(1, count + 1)
    found = theil_sen(rounds, start + slope * rounds.astype(np.float64))
    assert found is not None
    assert np.allclose(found, slope, atol=1e-9)


def test_wild_rounds_do_not_move_it() -> None:
    rounds = np.arange(20)
    values = -0.3 * rounds.astype(np.float64)
    values[[4, 15]] = 40.0
    found = theil_sen(rounds, values)
    assert found is not None
    assert found.value == pytest.approx(-0.3)


def test_three_points_state_no_slope() -> None:
    assert theil_sen(np.array([1, 2, 3]), np.array([0.0, 1.0, 2.0])) is None


def test_the_interval_covers_as_stated() -> None:
    generator = np.random.default_rng(3)
    rounds = np.arange(10)
    covered = 0
    for _ in range(300):
        found = theil_sen(rounds, 0.1 * rounds + generator.normal(0, 0.3, 10))
        assert found is not None
        covered += found.low <= 0.1 <= found.high
    assert 0.90 <= covered / 300 <= 0.99


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(0).normal(size=8)
    assert theil_sen(np.arange(8), values, seed=5) == theil_sen(np.arange(8), values, seed=5)
    assert theil_sen(np.arange(8), values, seed=5) != theil_sen(np.arange(8), values, seed=6)
