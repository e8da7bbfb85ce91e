from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.halflife import passing
from convergebench.metrics.base import MetricFacts

Make = Callable[..., dict[str, Any]]
Given = Callable[..., AnalysisInput]
FAST = AnalysisSettings(draws=200, chain_draws=50)
SIMILAR = MetricFacts("a", "full-reference", "higher", (0, 1), "", self_value=1)
DISTANT = MetricFacts("b", "full-reference", "lower", (0, 1), "", self_value=0)
DECIBEL = MetricFacts("psnr", "full-reference", "higher", (0, np.inf), "", unit="dB")


def one(values: list[float], threshold: float, facts: MetricFacts = SIMILAR, **more: bool) -> tuple[int, float, bool]:
    found = passing(np.array([values]), threshold, facts, **more)
    return int(found.rounds[0]), float(found.exact[0]), bool(found.passed[0])


def test_the_first_round_past_the_level_and_the_crossing_between() -> None:
    assert one([1.0, 0.95, 0.85, 0.7], 0.9) == pytest.approx((2, 1.5, True))


def test_the_untouched_image_is_the_start_of_the_first_crossing() -> None:
    assert one([1.0, 0.5], 0.75) == pytest.approx((1, 0.5, True))


def test_exactly_at_the_level_is_not_past_it() -> None:
    assert one([1.0, 0.9, 0.9], 0.9)[::2] == (2, False)


def test_never_past_is_censored_at_the_last_value() -> None:
    rounds, exact, passed = one([1.0, 0.99, 0.98, np.nan], 0.9)
    assert (rounds, np.isnan(exact), passed) == (2, True, False)


def test_sustained_waits_for_the_round_after_which_it_stays_past() -> None:
    values = [1.0, 0.8, 0.95, 0.85, 0.7]
    assert one(values, 0.9)[0] == 1
    assert one(values, 0.9, sustained=True) == pytest.approx((3, 2.5, True))
    assert one([1.0, 0.8, 0.95], 0.9, sustained=True)[::2] == (2, False)


def test_a_gap_is_bridged_to_the_last_value_before_it() -> None:
    assert one([1.0, np.nan, 0.8], 0.9) == pytest.approx((2, 1.0, True))


def test_psnr_is_not_interpolated_from_infinity() -> None:
    rounds, exact, passed = one([np.nan, np.inf, 25.0], 30.0, DECIBEL)
    assert (rounds, np.isnan(exact), passed) == (2, True, True)
    assert one([np.nan, 40.0, 20.0], 30.0, DECIBEL) == pytest.approx((2, 1.5, True))


@drawn(st.lists(st.integers(0, 64), min_size=1, max_size=15), st.integers(1, 63), st.booleans())
def test_turning_the_direction_over_changes_nothing(values: list[int], threshold: int, sustained: bool) -> None:
    # sixty-fourths are exact in binary, so 1 − x loses nothing
    column = np.array([[64, *values]]) / 64
    up = passing(column, threshold / 64, SIMILAR, sustained=sustained)
    down = passing(1 - column, 1 - threshold / 64, DISTANT, sustained=sustained)
    assert np.array_equal(up.rounds, down.rounds)
    assert np.array_equal(up.passed, down.passed)
    assert np.allclose(up.exact, down.exact, equal_nan=True)


def test_sentences_and_tables_share_one_median(chain: Make, given: Given) -> None:
    chains = [
        chain(source=f"s{n}", values={"ssim": [0.97, 0.94, *([0.89] if n < 4 else [0.91]), 0.85]}) for n in range(6)
    ]
    result = analyse(given(chains), FAST)
    row = result.half_life.filter(metric="ssim", level="noticeable", group="all").to_dicts()[0]
    assert (row["median"], row["text"], row["threshold"]) == (3, "3", 0.9)
    assert (row["n_cases"], row["n_events"], row["n_censored"]) == (6, 6, 0)
    assert row["restricted_mean"] == pytest.approx((4 * 3 + 2 * 4) / 6)
    half = result.half_life.filter(metric="ssim", level="half", group="all").to_dicts()[0]
    assert (half["median"], half["text"], half["n_censored"]) == (None, "> 4", 6)
    assert any("sim-a until round trip 3" in sentence for sentence in result.headline)


def test_a_refusal_censors_quality_and_is_an_event_of_use(chain: Make, given: Given) -> None:
    good = [0.99, 0.98, 0.97, 0.96]
    chains = [
        chain(source="s0", values={"ssim": good}),
        chain(source="s1", values={"ssim": good[:1]}, status="refused", planned=4),
        chain(source="s2", values={"ssim": good[:2]}, status="failed", planned=4),
        chain(source="s3", values={"ssim": good[:2]}, status="stopped", planned=4),
        chain(source="s4", values={"ssim": good[:2]}, status="ended", planned=4),
        chain(source="s5", values={"ssim": good[:3]}, status="open", planned=4),
    ]
    curves = analyse(given(chains), FAST).survival.filter(group="all")
    quality = curves.filter(curve="ssim noticeable")
    assert quality["survival"].to_list() == [1.0] * 5
    assert quality["censored"].to_list() == [0, 1, 3, 1, 1]
    in_use = curves.filter(curve="usable")
    assert in_use["events"].to_list() == [0, 0, 1, 2, 0]
    assert in_use["censored"].to_list() == [0, 0, 1, 1, 1]
    assert in_use["survival"].to_list() == pytest.approx([1, 1, 5 / 6, 5 / 6 * 2 / 4, 5 / 12])


def test_the_curve_of_use_takes_whichever_comes_first(chain: Make, given: Given) -> None:
    chains = [
        chain(source="s0", values={"ssim": [0.95, 0.8, 0.7]}, status="refused", planned=5),
        chain(source="s1", values={"ssim": [0.95]}, status="refused", planned=5),
    ]
    in_use = analyse(given(chains), FAST).survival.filter(group="all", curve="usable")
    assert in_use["events"].to_list() == [0, 0, 2]


def test_a_level_that_is_passed_in_the_very_last_round_ends_the_use(chain: Make, given: Given) -> None:
    chains = [
        chain(source="s0", values={"ssim": [0.99, 0.95, 0.8]}),
        chain(source="s1", values={"ssim": [0.99, 0.95, 0.94]}),
    ]
    in_use = analyse(given(chains), FAST).survival.filter(group="all", curve="usable")
    assert in_use["events"].to_list() == [0, 0, 0, 1]
    assert in_use["censored"].to_list() == [0, 0, 0, 1]


def test_a_chain_that_failed_before_round_one_is_lost_for_use_and_unseen_for_quality(chain: Make, given: Given) -> None:
    chains = [
        chain(source="s0", values={"ssim": [0.95, 0.94]}),
        chain(source="s1", values={}, status="failed", planned=2),
    ]
    result = analyse(given(chains), FAST)
    quality = result.survival.filter(group="all", curve="ssim noticeable")
    assert quality["at_risk"].to_list() == [2, 1, 1]
    assert result.survival.filter(group="all", curve="usable")["events"].to_list() == [0, 1, 0]
    row = result.half_life.filter(metric="ssim", level="noticeable", group="all").to_dicts()[0]
    assert (row["n_cases"], row["n_missing"], row["text"]) == (2, 0, "> 2")  # no round was done that lacks a value


def test_cases_are_listed_with_their_own_rounds(chain: Make, given: Given) -> None:
    cases = analyse(given([chain(values={"lpips": [0.05, 0.15, 0.7]})]), FAST).half_life_cases
    rows = {row["level"]: row for row in cases.to_dicts()}
    assert (rows["noticeable"]["rounds"], rows["noticeable"]["exact"]) == (2, pytest.approx(1.5))
    assert (rows["half"]["rounds"], rows["half"]["passed"]) == (3, True)


def test_usable_rounds_have_a_median_and_counts_of_their_own(chain: Make, given: Given) -> None:
    chains = [
        chain(source="s0", values={"ssim": [0.99] * 4}),
        chain(source="s1", values={"ssim": [0.99]}, status="refused", planned=4),
        chain(source="s2", values={"ssim": [0.99, 0.8, 0.7, 0.6]}),
        chain(source="s3", values={}, status="open", planned=4),
    ]
    row = analyse(given(chains), FAST).half_life.filter(metric="usable", group="all").to_dicts()[0]
    assert (row["median"], row["level"], row["threshold"]) == (2, None, None)
    assert row["restricted_mean"] == pytest.approx(1 + 1 + 1 / 3 + 1 / 3)
    assert [row[name] for name in ("n_cases", "n_events", "n_censored", "n_missing")] == [4, 2, 2, 1]


def test_nothing_is_interpolated_from_an_infinite_value(chain: Make, given: Given) -> None:
    cycle = {"psnr": [8.0, 8.0, inf, 8.0, 8.0]}
    cases = analyse(given([chain(values=cycle)]), replace(FAST, sustained=True)).half_life_cases
    assert cases.filter(level="half").select("rounds", "exact", "passed").rows() == [(4, None, True)]
