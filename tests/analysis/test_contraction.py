"""Truths of the contraction reading, on vectors that stand for images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from convergebench.analysis.contraction import SettlingRules
from convergebench.analysis.lags import ChainDistances, efficiency, find_period, lag_growth, late_share, pulled_growth
from convergebench.analysis.trajectories import Floats

MakePath = Callable[..., ChainDistances]
FLOOR = 0.5 / 255
READER = SettlingRules()
RNG = np.random.default_rng(7)
SOURCE = RNG.uniform(0.2, 0.8, 3000)
TARGET = np.clip(SOURCE + RNG.normal(0, 0.2, 3000), 0, 1)


def contracting(q: float, rounds: int = 10) -> list[Floats]:
    return [TARGET + q**n * (SOURCE - TARGET) for n in range(rounds + 1)]


def rounded(images: list[Floats]) -> list[Floats]:
    return [np.round(image * 255) / 255 for image in images]


@pytest.mark.parametrize(("q", "rounds"), [(0.3, 12), (0.5, 12), (0.7, 12), (0.9, 24), (0.95, 44)])
def test_a_contraction_gives_back_its_factor(path: MakePath, q: float, rounds: int) -> None:
    seen = READER.read(path(contracting(q, rounds)), FLOOR)
    assert seen.verdict == "settles"
    assert seen.q == pytest.approx(q, abs=0.002)
    assert seen.q_low <= q <= seen.q_high


def test_a_chain_keeps_how_far_it_came_and_its_first_and_last_step(path: MakePath) -> None:
    away = float(np.sqrt(np.mean((SOURCE - TARGET) ** 2)))
    seen = READER.read(path(contracting(0.5, 3)), FLOOR)
    assert (seen.rounds, seen.floor) == (3, FLOOR)
    assert [seen.drift, seen.first_displacement, seen.last_displacement] == pytest.approx(
        [away * 0.875, away * 0.5, away * 0.125]
    )
    unmoved = READER.read(path([SOURCE]), FLOOR)
    assert np.isnan([unmoved.drift, unmoved.first_displacement, unmoved.last_displacement]).all()


@pytest.mark.parametrize(("q", "rounds"), [(0.5, 12), (0.7, 12), (0.9, 30)])
def test_eight_bit_rounding_moves_the_factor_little(path: MakePath, q: float, rounds: int) -> None:
    seen = READER.read(path(rounded(contracting(q, rounds))), FLOOR)
    assert seen.verdict == "settles"
    assert seen.q == pytest.approx(q, abs=0.02)
    assert seen.q_low <= q <= seen.q_high


@drawn(q=st.floats(0.05, 0.8), rounds=st.integers(12, 20))
@settings(max_examples=40, deadline=None)
def test_the_estimates_lie_just_beyond_the_limit_of_a_straight_contraction(q: float, rounds: int) -> None:
    away = float(np.sqrt(np.mean((SOURCE - TARGET) ** 2)))
    steps = np.arange(rounds + 1, dtype=np.float64)
    drift: Floats = np.asarray(away * (1 - q**steps), dtype=np.float64)
    lags = np.full((6, rounds + 1), np.nan)
    for lag in range(1, min(6, rounds) + 1):
        lags[lag - 1, lag:] = away * (q ** steps[:-lag] - q ** steps[lag:])
    seen = READER.read(ChainDistances(drift, lags), 1e-20)
    assert seen.prior_bound == pytest.approx(seen.first_displacement / (1 - seen.q_high))
    assert away * (1 - 1e-9) <= seen.prior_bound <= 1.15 * away
    assert away * q**rounds * (1 - 1e-9) <= seen.posterior_bound <= 1.2 * away * q**rounds + 1e-12


def test_the_estimates_hold_when_the_way_is_crooked(path: MakePath) -> None:
    angle, q, rounds = 0.9, 0.7, 12
    plane = [RNG.normal(0, 0.1, 3000), RNG.normal(0, 0.1, 3000)]
    images = [TARGET + q**n * (np.cos(n * angle) * plane[0] + np.sin(n * angle) * plane[1]) for n in range(rounds + 1)]
    seen = READER.read(path(images), FLOOR)
    assert seen.verdict == "settles"
    assert seen.q == pytest.approx(q, abs=0.02)
    assert np.sqrt(np.mean((images[0] - TARGET) ** 2)) < seen.prior_bound
    assert np.sqrt(np.mean((images[-1] - TARGET) ** 2)) < seen.posterior_bound


def test_no_limit_is_estimated_for_a_dissimilarity(path: MakePath) -> None:
    seen = SettlingRules(bounds=False).read(path(contracting(0.6)), FLOOR)
    assert seen.verdict == "settles"
    assert np.isnan([seen.prior_bound, seen.posterior_bound]).all()


def test_identity_returns(path: MakePath) -> None:
    seen = READER.read(path([SOURCE] * 11), FLOOR)
    assert (seen.verdict, seen.drift, seen.rounds) == ("returns", 0.0, 10)
    assert np.isnan(seen.q)
    assert np.isnan(seen.efficiency)


def test_an_editor_that_settles_in_a_few_steps_settles_with_a_small_radius(path: MakePath) -> None:
    images = [SOURCE, *rounded([TARGET + 0.1 ** (n + 1) * (SOURCE - TARGET) for n in range(12)])]
    seen = READER.read(path(images), FLOOR)
    assert seen.verdict == "settles"
    assert seen.radius <= FLOOR


@pytest.mark.parametrize("period", [2, 3, 4, 6])
def test_a_cycle_is_found_with_its_period(path: MakePath, period: int) -> None:
    stations = [RNG.uniform(0, 1, 3000) for _ in range(period)]
    seen = READER.read(path([stations[n % period] for n in range(21)]), FLOOR)
    assert (seen.verdict, seen.period) == ("cycles", period)


def test_a_cycle_is_found_under_noise_and_after_a_settling_phase(path: MakePath) -> None:
    stations = [RNG.uniform(0.3, 0.7, 3000) for _ in range(3)]
    images = [stations[n % 3] + 0.6**n * 0.3 * np.sign(SOURCE - 0.5) + RNG.normal(0, 0.02, 3000) for n in range(21)]
    seen = READER.read(path(images), FLOOR)
    assert (seen.verdict, seen.period) == ("cycles", 3)


def test_an_alternating_contraction_settles_and_is_no_cycle(path: MakePath) -> None:
    images = [TARGET + (-0.8) ** n * (SOURCE - TARGET) for n in range(16)]
    seen = READER.read(path(images), FLOOR)
    assert seen.verdict == "settles"
    assert seen.q == pytest.approx(0.8, rel=1e-9)


def test_constant_drift_marches_straight(path: MakePath) -> None:
    shift = RNG.normal(0, 0.01, 3000)
    seen = READER.read(path([SOURCE + n * shift for n in range(11)]), FLOOR)
    assert seen.verdict == "drifts"
    assert seen.q == pytest.approx(1)
    assert seen.efficiency == pytest.approx(1)
    assert seen.lag_growth == pytest.approx(1)


def test_a_random_walk_drifts_with_the_square_root(path: MakePath) -> None:
    verdicts, growths = [], []
    for _ in range(20):
        walk = SOURCE + np.cumsum(RNG.normal(0, 0.02, (21, 3000)), axis=0)
        seen = READER.read(path([SOURCE, *walk]), FLOOR)
        verdicts.append(seen.verdict)
        growths.append(seen.lag_growth)
        assert seen.efficiency == pytest.approx(1 / np.sqrt(21), rel=0.1)
    assert verdicts == ["drifts"] * 20
    assert np.mean(growths) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("pull", [0.0, 0.3])
def test_a_noise_ball_settles_and_its_radius_is_the_noise(path: MakePath, pull: float) -> None:
    image, images = SOURCE, [SOURCE]
    for _ in range(20):
        image = TARGET + pull * (image - TARGET) + RNG.normal(0, 0.03, 3000)
        images.append(image)
    seen = READER.read(path(images), FLOOR)
    assert seen.verdict == "settles"
    if pull == 0:
        assert seen.radius == pytest.approx(0.03, rel=0.05)


@pytest.mark.parametrize(("rounds", "verdict"), [(4, "too early"), (9, "too early"), (10, "drifts"), (20, "drifts")])
def test_a_random_walk_is_no_rest_although_its_steps_are_below_the_noise_between_replicates(
    path: MakePath, rounds: int, verdict: str
) -> None:
    walk = SOURCE + np.cumsum(RNG.normal(0, 0.02, (rounds, 3000)), axis=0)
    assert READER.read(path([SOURCE, *walk]), np.sqrt(2) * 0.02, rounding=FLOOR).verdict == verdict


@pytest.mark.parametrize(("rounds", "verdict"), [(2, "too early"), (12, "settles")])
def test_noise_around_the_source_does_not_return(path: MakePath, rounds: int, verdict: str) -> None:
    for _ in range(20):
        images = [SOURCE, *(SOURCE + RNG.normal(0, 0.03, (rounds, 3000)))]
        apart = np.sqrt(2) * 0.03  # two replicates are farther from each other than either is from the source
        assert READER.read(path(images), apart, rounding=FLOOR).verdict == verdict


def test_a_noise_ball_settles_under_a_floor_from_replicates_too(path: MakePath) -> None:
    images = [SOURCE, *(TARGET + RNG.normal(0, 0.03, (12, 3000)))]
    assert READER.read(path(images), np.sqrt(2) * 0.03, rounding=FLOOR).verdict == "settles"


def test_replicates_that_each_found_rest_elsewhere_settle(path: MakePath) -> None:
    assert READER.read(path([SOURCE, *[TARGET] * 4]), 0.1, rounding=FLOOR).verdict == "settles"


def test_a_cycle_under_the_floor_is_rest(path: MakePath) -> None:
    flicker = TARGET + np.where(np.arange(3000) < 30, 1 / 255, 0)  # 1 in 100 pixels goes to and fro by one level
    seen = READER.read(path([SOURCE, *([TARGET, flicker] * 6)]), FLOOR)
    assert (seen.verdict, seen.period) == ("settles", None)


def test_chance_in_the_last_steps_is_no_divergence(path: MakePath) -> None:
    for _ in range(150):
        walk = SOURCE[:60] + np.cumsum(RNG.normal(0, 0.02, (40, 60)), axis=0)
        assert READER.read(path([SOURCE[:60], *walk]), FLOOR).verdict != "diverges"


def test_growing_steps_diverge(path: MakePath) -> None:
    seen = READER.read(path([SOURCE + 0.002 * 1.3**n * (TARGET - SOURCE) for n in range(16)]), 1e-6)
    assert seen.verdict == "diverges"
    assert seen.q == pytest.approx(1.3, rel=1e-9)


def test_slow_creep_below_the_floor_is_not_called_settled(path: MakePath) -> None:
    step = np.full(3000, 0.3 * FLOOR)
    seen = READER.read(path([SOURCE + n * step for n in range(25)]), FLOOR)
    assert seen.verdict == "drifts"


@pytest.mark.parametrize("rounds", range(1, 10))
def test_before_ten_rounds_it_is_too_early(path: MakePath, rounds: int) -> None:
    stations = [RNG.uniform(0, 1, 3000) for _ in range(3)]
    noisy = [stations[n % 3] + RNG.normal(0, 0.01, 3000) for n in range(rounds + 1)]
    march = [SOURCE + n * 0.01 for n in range(rounds + 1)]
    for images in (contracting(0.5, rounds), contracting(1.3, rounds), march, noisy):
        assert READER.read(path(images), FLOOR).verdict == "too early"
    assert SettlingRules(fewest=rounds + 1).read(path(march), FLOOR).verdict == "too early"


def test_ten_rounds_can_be_asked_for_or_fewer(path: MakePath) -> None:
    assert SettlingRules(fewest=8).read(path(contracting(0.5, 8)), FLOOR).verdict == "settles"
    assert SettlingRules(fewest=20).read(path(contracting(0.5, 12)), FLOOR).verdict == "too early"


def test_a_chain_without_a_distance_is_unknown(path: MakePath) -> None:
    assert READER.read(path([SOURCE]), FLOOR).verdict == "unknown"
    walked = path(contracting(0.5, 14))
    walked.lags[:, 3:10] = np.nan  # fourteen rounds, but only seven displacements
    assert READER.read(walked, FLOOR).verdict == "unknown"


def test_a_chain_with_lost_pictures_is_unknown_however_well_it_began(path: MakePath) -> None:
    for images in ([SOURCE] * 4, contracting(0.5, 12)):
        assert READER.read(path(images), FLOOR).verdict in ("returns", "settles")
        assert READER.read(path(images), FLOOR, lost=True).verdict == "unknown"


def test_an_exact_repeat_is_proof_at_any_length(path: MakePath) -> None:
    rest = READER.read(path([SOURCE, TARGET, TARGET, TARGET, TARGET]), FLOOR)
    assert (rest.verdict, rest.radius) == ("settles", 0)
    assert READER.read(path([SOURCE, TARGET, TARGET, TARGET]), FLOOR).verdict == "too early"
    turn = READER.read(path([SOURCE, *[TARGET, SOURCE] * 3]), FLOOR)
    assert (turn.verdict, turn.period) == ("cycles", 2)
    assert READER.read(path([SOURCE, SOURCE + FLOOR / 2]), FLOOR).verdict == "returns"


SLOWING: dict[str, Callable[[Floats], Floats]] = {
    "to half": lambda rounds: np.asarray(0.5 + 0.5 * 0.8**rounds),
    "as the root": lambda rounds: np.asarray(rounds**-0.5),
    "as 1/n": lambda rounds: np.asarray(1 / rounds),
    "and on": lambda rounds: np.asarray(0.52 + 0.18 * 0.6**rounds + 0.001 * rounds**1.8),  # as waifu2x-denoise does
}


@pytest.mark.parametrize("rounds", [5, 10, 20, 40])
@pytest.mark.parametrize("law", SLOWING)
def test_a_straight_march_that_slows_down_is_not_settling(path: MakePath, law: str, rounds: int) -> None:
    for _ in range(10):
        steps = SLOWING[law](np.arange(1.0, rounds + 1)) * np.exp(RNG.normal(0, 0.03, rounds))
        images = [SOURCE + 0.02 * way * (TARGET - SOURCE) for way in (0.0, *np.cumsum(steps))]
        seen = READER.read(path(images), 1e-6)
        assert seen.verdict in (("too early",) if rounds < 10 else ("too early", "drifts", "diverges"))
        assert np.isnan([seen.prior_bound, seen.posterior_bound]).all()


def test_a_contraction_that_has_not_come_far_is_too_early(path: MakePath) -> None:
    seen = READER.read(path(contracting(0.95, 12)), 1e-6)
    assert seen.q_high < 0.98
    assert seen.verdict == "too early"


@pytest.mark.parametrize("sigma", [0.003, 0.01])
@pytest.mark.parametrize("q", [0.4, 0.6, 0.8])
def test_a_contraction_with_noise_settles_in_a_ball_and_keeps_its_factor(
    path: MakePath, q: float, sigma: float
) -> None:
    image, images = SOURCE, [SOURCE]
    for _ in range(40):
        image = TARGET + q * (image - TARGET) + RNG.normal(0, sigma, 3000)
        images.append(image)
    seen = READER.read(path(images), FLOOR)
    assert seen.verdict == "settles"
    assert seen.q == pytest.approx(q, abs=0.03)
    assert seen.pace == pytest.approx(np.sqrt(2 / (1 + q)) * sigma, rel=0.1)


def test_a_walk_beside_a_contraction_drifts(path: MakePath) -> None:
    pull = np.where(np.arange(3000) < 1500, 0.5, 1.0)
    for _ in range(10):
        image, images = SOURCE, [SOURCE]
        for _ in range(20):
            image = TARGET + pull * (image - TARGET) + RNG.normal(0, 0.02, 3000)
            images.append(image)
        assert READER.read(path(images), FLOOR).verdict == "drifts"


def test_the_growth_of_a_pulled_ball_lies_below_that_of_a_walk() -> None:
    growths = [pulled_growth(q) for q in (0.01, 0.3, 0.6, 0.8, 0.97)]
    assert growths == sorted(growths)
    assert growths[0] == pytest.approx(0.05, abs=0.01)
    assert growths[-1] < 0.45


def test_a_clipped_march_is_not_called_settling(path: MakePath) -> None:
    seen = READER.read(path([np.clip(SOURCE + 0.012 * n, 0, 0.85) for n in range(21)]), FLOOR)
    assert seen.verdict in ("drifts", "too early")


def test_a_gap_leaves_the_factor_and_takes_the_efficiency(path: MakePath) -> None:
    walked = path(contracting(0.7, 12))
    walked.drift[5] = np.nan
    walked.lags[:, 5:7] = np.nan
    seen = READER.read(walked, FLOOR)
    assert seen.q == pytest.approx(0.7, abs=0.002)
    assert np.isnan(seen.efficiency)


def test_efficiency_is_zero_after_coming_back(path: MakePath) -> None:
    walked = path([SOURCE, TARGET, SOURCE])
    assert efficiency(walked.drift, walked.displacement) == 0


def test_lag_growth_and_period_need_enough_rounds(path: MakePath) -> None:
    walked = path(contracting(0.5, 2))
    assert np.isnan(lag_growth(walked.lags))
    assert find_period(walked.lags, FLOOR) is None


def test_a_chain_that_stood_still_at_first_is_read_without_a_warning(path: MakePath) -> None:
    still = [np.zeros(16)] * 6
    moved = [np.full(16, 0.02 * n) for n in range(1, 10)]
    assert late_share(path([*still, *moved]).displacement) == np.inf
    assert late_share(path(still * 2).displacement) == 1
