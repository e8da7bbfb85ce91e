"""The contraction factor: what the fit gives back, and how often its interval covers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.analysis.factor import FASTEST, SLOWEST, ContractionFactor, contraction_factor
from convergebench.analysis.trajectories import Floats


def fitted(displacement: Floats, **more: float) -> ContractionFactor:
    found = contraction_factor(np.arange(1, displacement.size + 1), displacement, **more)
    assert found is not None
    return found


def law(q: float, pace: float, rounds: int) -> Floats:
    return np.asarray(np.sqrt(q ** (2 * np.arange(rounds)) + pace**2))


@given(q=st.floats(0.1, 1.6), rounds=st.integers(6, 40))
@settings(max_examples=40, deadline=None)
def test_without_a_pace_it_is_the_slope(q: float, rounds: int) -> None:
    found = fitted(law(q, 0.0, rounds))
    assert found.q == pytest.approx(q, rel=0.003)
    assert found.low <= q * (1 + 1e-9)
    assert found.high >= q * (1 - 1e-9)
    assert found.pace == 0


@pytest.mark.parametrize("q", [0.3, 0.6, 0.8])
@pytest.mark.parametrize("pace", [0.02, 0.1])
def test_a_tail_that_stays_is_told_from_the_part_that_shrinks(q: float, pace: float) -> None:
    found = fitted(law(q, pace, 16))
    assert (found.q, found.pace) == pytest.approx((q, pace), rel=0.02)
    faded = found.faded
    assert q ** (faded - 1) == pytest.approx(pace / 2, rel=0.1)


def test_even_steps_have_factor_one_and_no_pace() -> None:
    found = fitted(np.exp(np.random.default_rng(2).normal(0, 0.05, 20)))
    assert found.q == pytest.approx(1, abs=0.02)
    assert found.low < 1 < found.high
    assert found.pace == 0


def test_an_interval_that_knows_no_end_reaches_the_end_of_the_search() -> None:
    found = fitted(np.array([1.0, 0.97, 1.02, 0.99, 1.01]))
    assert (found.low, found.high) == pytest.approx((FASTEST, SLOWEST))


def test_a_wild_round_does_not_move_it() -> None:
    steps = law(0.7, 0.0, 14) * np.exp(np.random.default_rng(3).normal(0, 0.02, 14))
    steps[12] *= 20
    assert fitted(steps).q == pytest.approx(0.7, abs=0.02)


def test_rounds_may_be_missing() -> None:
    rounds = np.array([1, 2, 4, 5, 9, 12])
    found = contraction_factor(rounds, 0.8**rounds)
    assert found is not None
    assert found.q == pytest.approx(0.8, rel=0.003)


def test_three_rounds_state_no_factor() -> None:
    assert contraction_factor(np.arange(1, 4), np.array([1.0, 0.5, 0.25])) is None


def test_steps_near_the_rounding_floor_are_believed_less() -> None:
    steps = law(0.8, 0.0, 10)
    sure, unsure = fitted(steps), fitted(steps, rounding=0.2)
    assert unsure.high - unsure.low > 2 * (sure.high - sure.low)


@pytest.mark.parametrize(("q", "sigma"), [(0.3, 0.01), (0.6, 0.003), (0.6, 0.01), (0.6, 0.03), (0.9, 0.01)])
@pytest.mark.parametrize("directions", [12, 400])
def test_the_interval_of_a_random_editor_covers(q: float, sigma: float, directions: int) -> None:
    generator = np.random.default_rng([5, directions])
    covered, factors = 0, []
    for _ in range(60):
        goal = generator.normal(size=directions)
        goal *= 0.2 / np.sqrt(np.mean(goal**2))
        image, steps = np.zeros(directions), []
        for _ in range(14):
            before, image = image, goal + q * (image - goal) + generator.normal(0, sigma, directions)
            steps.append(np.sqrt(np.mean((image - before) ** 2)))
        found = fitted(np.array(steps))
        covered += found.low <= q <= found.high
        factors.append(found.q)
    assert covered >= 54
    if directions > 12 and sigma < 0.03:
        assert np.median(factors) == pytest.approx(q, abs=0.03)
