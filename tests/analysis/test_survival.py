"""Kaplan–Meier against closed forms, a textbook and scipy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import CensoredData, ecdf

from convergebench.analysis.survival import kaplan_meier, median, restricted_mean

# remission in weeks of 21 patients under 6-mercaptopurine (Freireich et al. 1963)
LOST = [6, 6, 6, 7, 10, 13, 16, 22, 23]
CENSORED = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
TIMES = np.array(LOST + CENSORED)
EVENTS = np.array([True] * len(LOST) + [False] * len(CENSORED))
PLACEBO = np.array([1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23])


def test_the_textbook_curve_and_its_log_log_interval() -> None:
    curve = kaplan_meier(TIMES, EVENTS)
    printed = {
        6: (0.857, 0.620, 0.952),
        7: (0.807, 0.563, 0.923),
        10: (0.753, 0.503, 0.889),
        13: (0.690, 0.432, 0.849),
        16: (0.627, 0.368, 0.805),
        22: (0.538, 0.268, 0.747),
        23: (0.448, 0.188, 0.680),
    }
    for week, row in printed.items():
        found = (curve.survival[week], curve.low[week], curve.high[week])
        assert found == pytest.approx(row, abs=6e-4)
    assert curve.at_risk[[6, 7, 10, 23]].tolist() == [21, 17, 15, 6]
    assert curve.events.sum() == 9
    assert curve.censored.sum() == 12


def test_the_textbook_medians() -> None:
    assert median(kaplan_meier(TIMES, EVENTS)) == (23, 13, None)
    assert median(kaplan_meier(PLACEBO, np.ones(21, bool))) == (8, 4, 11)


def test_it_agrees_with_scipy_on_random_censored_data() -> None:
    generator = np.random.default_rng(5)
    for _ in range(10):
        times = generator.integers(1, 15, 40)
        events = generator.random(40) < 0.6
        curve = kaplan_meier(times, events)
        peer = ecdf(CensoredData.right_censored(times.astype(float), ~events)).sf
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scipy warns where S is 0 or 1, which is left out below
            ends = peer.confidence_interval(method="log-log")
        places = peer.quantiles.astype(int)
        inside = (peer.probabilities > 0) & (peer.probabilities < 1)
        assert curve.survival[places] == pytest.approx(peer.probabilities)
        assert curve.low[places][inside] == pytest.approx(ends.low.probabilities[inside])
        assert curve.high[places][inside] == pytest.approx(ends.high.probabilities[inside])


@pytest.mark.parametrize(("hazard", "expected"), [(0.5, 1), (0.25, 3), (0.125, 6), (0.1, 7)])
def test_a_known_hazard_gives_its_known_median(hazard: float, expected: int) -> None:
    generator = np.random.default_rng(11)
    lifetimes = generator.geometric(hazard, 4000)
    ends = generator.integers(4, 21, 4000)  # followed for 4 to 20 rounds, whatever happens
    curve = kaplan_meier(np.minimum(lifetimes, ends), lifetimes <= ends)
    assert median(curve).value == expected
    rounds = np.arange(13)
    assert curve.survival[:13] == pytest.approx((1 - hazard) ** rounds, abs=0.03)


def test_without_censoring_it_is_the_share_still_alive() -> None:
    times = np.repeat([1, 2, 3, 4], 25)
    curve = kaplan_meier(times, np.ones(100, bool))
    assert curve.survival == pytest.approx([1, 0.75, 0.5, 0.25, 0])
    assert median(curve).value == 2
    assert restricted_mean(curve) == pytest.approx((2.5, 4))


def test_nobody_lost_is_censored_and_the_restricted_mean_is_the_horizon() -> None:
    curve = kaplan_meier(np.full(12, 10), np.zeros(12, bool))
    assert curve.survival.tolist() == [1.0] * 11
    assert median(curve) == (None, None, None)
    assert restricted_mean(curve) == (10.0, 10)
    assert np.isnan(curve.low[1:]).all()


def test_all_lost_at_once_is_that_round_without_width() -> None:
    assert median(kaplan_meier(np.full(9, 2), np.ones(9, bool))) == (2, 2, 2)


def test_one_case_per_source_is_greenwood_and_copies_add_no_certainty() -> None:
    single = kaplan_meier(TIMES, EVENTS)
    fivefold = kaplan_meier(np.repeat(TIMES, 5), np.repeat(EVENTS, 5), clusters=np.repeat(np.arange(21), 5))
    naive = kaplan_meier(np.repeat(TIMES, 5), np.repeat(EVENTS, 5))
    inside = ~np.isnan(single.low)
    assert fivefold.survival == pytest.approx(single.survival)
    width, clustered, independent = ((curve.high - curve.low)[inside][1:] for curve in (single, fivefold, naive))
    assert clustered == pytest.approx(width, rel=0.12)  # but for the factor K/(K−1), and Student's t for so few sources
    assert np.all(clustered > width)
    assert np.all(independent < 0.6 * width)


def test_one_source_has_no_interval() -> None:
    curve = kaplan_meier(np.array([1, 2, 3]), np.ones(3, bool), clusters=np.zeros(3, int))
    assert median(curve) == (2, None, None)
    assert np.isnan(curve.low[1:]).all()


@given(st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_curves_fall_from_one_and_their_bands_hold_them(cases: list[tuple[int, bool]]) -> None:
    times = np.array([time for time, _ in cases])
    events = np.array([event and time > 0 for time, event in cases])
    curve = kaplan_meier(times, events)
    assert curve.survival[0] == 1
    assert np.all(np.diff(curve.survival) <= 0)
    known = ~np.isnan(curve.low)
    assert np.all(curve.low[known] <= curve.survival[known])
    assert np.all(curve.survival[known] <= curve.high[known])
    assert curve.events.sum() + curve.censored.sum() == times.size
    mean, followed = restricted_mean(curve)
    assert 0 <= mean <= followed
