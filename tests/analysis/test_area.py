from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.area import area, last_value
from convergebench.analysis.retention import has_retention, levels, retention
from convergebench.analysis.trajectories import Floats
from convergebench.errors import StudyError
from convergebench.metrics.base import MetricFacts

FAST = AnalysisSettings(draws=200, chain_draws=50)
shares = st.lists(st.floats(-1, 1), min_size=1, max_size=20)


def row(*values: float) -> Floats:
    return np.array([values])


@drawn(st.integers(1, 40))
def test_a_perfect_editor_scores_exactly_one(rounds: int) -> None:
    assert area(np.ones((1, rounds + 1)))[0] == 1.0


@drawn(shares)
def test_area_is_between_the_worst_and_the_best_round(values: list[float]) -> None:
    found = area(row(1.0, *values))[0]
    assert min([1.0, *values]) - 1e-12 <= found <= 1.0


@drawn(shares, st.floats(-1, 1))
def test_area_is_linear(values: list[float], factor: float) -> None:
    loss = 1 - area(row(1.0, *values))[0]
    scaled = 1 - area(row(1.0, *(1 - factor * (1 - value) for value in values)))[0]
    assert scaled == pytest.approx(factor * loss, abs=1e-12)


@drawn(st.floats(0, 1), st.integers(1, 30))
def test_a_straight_fall_loses_half_of_its_end(end: float, rounds: int) -> None:
    line = 1 - end * np.arange(rounds + 1) / rounds
    assert area(line[None, :])[0] == pytest.approx(1 - end / 2)


def test_round_zero_is_part_of_it() -> None:
    assert area(row(1.0, 0.0, 0.0))[0] == 0.25


def test_a_chain_that_ended_early_counts_up_to_its_last_round() -> None:
    assert area(row(1.0, 0.8, 0.6, np.nan, np.nan))[0] == pytest.approx(0.8)


def test_a_gap_is_bridged_and_never_zero() -> None:
    assert area(row(1.0, np.nan, 0.6, 0.4))[0] == pytest.approx(area(row(1.0, 0.8, 0.6, 0.4))[0])


def test_without_a_value_there_is_no_area() -> None:
    assert np.isnan(area(row(1.0, np.nan, np.nan))[0])
    assert np.isnan(area(row(1.0))[0])
    assert last_value(row(1.0, np.nan, 0.3, np.nan))[0] == 2


@drawn(values=st.lists(st.floats(0, 1), min_size=1, max_size=10))
@settings(max_examples=30)
def test_a_similarity_and_its_complement_have_the_same_retention(values: list[float]) -> None:
    similar = MetricFacts("a", "full-reference", "higher", (0, 1), "", self_value=1)
    distant = MetricFacts("b", "full-reference", "lower", (0, 1), "", self_value=0)
    column = np.array(values)
    assert np.allclose(retention(column, similar), retention(1 - column, distant))


def test_psnr_and_unbounded_distances_have_no_retention(facts: dict[str, MetricFacts]) -> None:
    assert not has_retention(facts["psnr"])
    assert not has_retention(facts["delta-e"])
    assert not has_retention(None)
    with pytest.raises(StudyError, match="psnr has no retention"):
        retention(np.array([30.0]), facts["psnr"])


def test_levels_are_overridden_and_extended_by_the_study(facts: dict[str, MetricFacts]) -> None:
    asked = AnalysisSettings(levels={"ssim": {"noticeable": 0.8, "third": 0.66}})
    assert levels(facts["ssim"], asked) == {"noticeable": 0.8, "half": 0.5, "third": 0.66}


@pytest.mark.parametrize(("metric", "value"), [("ssim", 1.2), ("lpips", -0.1), ("ssim", float("nan"))])
def test_a_level_that_an_untouched_image_is_past_is_an_error(
    facts: dict[str, MetricFacts], metric: str, value: float
) -> None:
    with pytest.raises(StudyError, match=rf"levels\.{metric}\.mine"):
        levels(facts[metric], AnalysisSettings(levels={metric: {"mine": value}}))


def test_the_table_counts_short_cases_and_missing_rounds(
    chain: Callable[..., dict[str, Any]], given: Callable[..., AnalysisInput]
) -> None:
    chains = [
        chain(source="s0", values={"ssim": [0.9, 0.8, 0.7]}),
        chain(source="s1", values={"ssim": [0.9, 0.8]}, status="refused", planned=3),
        chain(source="s2", values={"ssim": [None, None, None]}),
        chain(source="s3", values={}, status="failed", planned=3),
    ]
    found = analyse(given(chains), FAST).auc.filter(group="all").to_dicts()
    assert len(found) == 1
    counts = [found[0][name] for name in ("n_cases", "n_sources", "n_missing", "n_short")]
    assert counts == [2, 2, 3, 1]
    whole = (0.95 + 0.85 + 0.75) / 3
    assert found[0]["auc"] == pytest.approx((whole + (0.95 + 0.85) / 2) / 2)
