"""Krippendorff's α equals another implementation on any data, gaps included."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.rating_world import RatingWorld
from convergebench.analysis.krippendorff import krippendorff_alpha, ordinal_alpha
from convergebench.analysis.ratings.agreement import alpha_interval
from convergebench.analysis.trajectories import Floats

TABLES = st.integers(2, 6).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([np.nan, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), min_size=raters, max_size=raters),
        min_size=2,
        max_size=12,
    )
)


@settings(deadline=None)
@given(TABLES)
def test_alpha_is_that_of_the_package_krippendorff(units: list[list[float]]) -> None:
    table = np.array(units).T
    several = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    if np.unique(several[~np.isnan(several)]).size < 2:
        assert krippendorff_alpha(table) is None
        assert ordinal_alpha(table) is None
        return
    by_value = krippendorff.alpha(reliability_data=several, level_of_measurement="interval")
    by_order = krippendorff.alpha(reliability_data=several, level_of_measurement="ordinal")
    assert krippendorff_alpha(table) == pytest.approx(by_value, abs=1e-9)
    assert ordinal_alpha(table) == pytest.approx(by_order, abs=1e-9)


def test_full_agreement_is_one_and_so_are_both_ends() -> None:
    table = np.tile(np.array([0.0, 2.0, 5.0, 1.0, 4.0, 3.0]), (4, 1))
    assert krippendorff_alpha(table) == ordinal_alpha(table) == 1
    assert alpha_interval(table, list("abcdef"), krippendorff_alpha, 0.95) == (1, 1)


def test_too_few_raters_or_pictures_have_no_interval() -> None:
    draw = np.random.default_rng(0)
    assert alpha_interval(draw.random((2, 10)), list("abcdefghij"), krippendorff_alpha, 0.95) is None
    assert alpha_interval(draw.random((6, 10)), list("aabbccddaa"), krippendorff_alpha, 0.95) is None
    assert alpha_interval(draw.random((6, 10)), list("aabbccddee"), krippendorff_alpha, 0.95) is not None


def simulated(draw: np.random.Generator, raters: int, pictures: int, picture: float = 0.6) -> Floats:
    world = RatingWorld(means=(3.0,) * 4, taste=0, picture=picture)
    seen = world.latent(draw, pictures).reshape(1, -1) + draw.normal(0, world.rater, (raters, 1))
    return np.asarray(seen + draw.normal(0, world.noise, seen.shape))


def test_alpha_is_the_share_of_variance_that_raters_have_in_common() -> None:
    world = RatingWorld()
    common = world.picture**2 + world.on_picture**2
    table = simulated(np.random.default_rng(1), 300, 400)
    assert krippendorff_alpha(table) == pytest.approx(common / (common + world.rater**2 + world.noise**2), abs=0.02)


def test_intervals_hold_the_share_for_other_raters_and_pictures() -> None:
    world = RatingWorld()
    common = world.picture**2 + world.on_picture**2
    truth = common / (common + world.rater**2 + world.noise**2)
    names = [f"p{place}" for place in range(10) for _ in range(4)]
    held = 0
    for seed in range(100):
        ends = alpha_interval(simulated(np.random.default_rng([5, seed]), 8, 10), names, krippendorff_alpha, 0.95)
        assert ends is not None
        held += ends[0] <= truth <= ends[1]
    assert held >= 86


def test_with_few_pictures_alpha_is_too_low_and_its_interval_makes_up_for_it() -> None:
    """Answers about one picture resemble each other, so that chance is taken for less varied than it is."""
    world = RatingWorld(picture=1.5)
    common = world.picture**2 + world.on_picture**2
    truth = common / (common + world.rater**2 + world.noise**2)
    names = [f"p{place}" for place in range(6) for _ in range(4)]
    alphas, centres = [], []
    for seed in range(80):
        table = simulated(np.random.default_rng([6, seed]), 8, 6, picture=1.5)
        ends = alpha_interval(table, names, krippendorff_alpha, 0.95)
        alpha = krippendorff_alpha(table)
        assert ends is not None
        assert alpha is not None
        alphas.append(alpha)
        centres.append(1 - np.sqrt((1 - ends[0]) * (1 - ends[1])))
    assert truth - np.mean(alphas) > 0.05
    assert abs(truth - np.mean(centres)) < 0.5 * (truth - np.mean(alphas))
