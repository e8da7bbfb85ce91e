from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import pytest

from convergebench.analysis import Analysis, AnalysisInput, AnalysisSettings, analyse
from convergebench.metrics.base import MetricFacts

Make = Callable[..., dict[str, Any]]
Given = Callable[..., AnalysisInput]
FAST = AnalysisSettings(draws=300, chain_draws=50)


def curve(result: Analysis, metric: str, column: str = "mean", group: str = "all") -> list[Any]:
    return result.curves.filter(metric=metric, group=group).sort("editor", "round")[column].to_list()


def test_round_zero_is_the_untouched_image(chain: Make, given: Given) -> None:
    result = analyse(given([chain(values={"ssim": [0.9], "lpips": [0.2], "psnr": [30.0]})]), FAST)
    assert curve(result, "ssim") == [1.0, 0.9]
    assert curve(result, "lpips") == [0.0, 0.2]
    assert curve(result, "psnr") == [None, pytest.approx(30)]
    assert curve(result, "ssim", "low") == [1.0, None]


def test_cells_use_the_cases_still_observed_and_say_how_many(chain: Make, given: Given) -> None:
    chains = [
        chain(source="s0", values={"ssim": [0.9, 0.8, 0.7]}),
        chain(source="s1", values={"ssim": [0.7]}, status="refused", planned=3),
        chain(source="s2", values={"ssim": [0.8, None, 0.5]}),
    ]
    result = analyse(given(chains), FAST)
    assert curve(result, "ssim") == pytest.approx([1.0, 0.8, 0.8, 0.6])
    assert curve(result, "ssim", "n_cases") == [3, 3, 1, 2]
    assert curve(result, "ssim", "n_sources") == [3, 3, 1, 2]
    assert curve(result, "ssim", "n_missing") == [0, 0, 1, 0]


def test_a_metric_without_a_row_for_a_round_that_was_done_is_missing(chain: Make, given: Given) -> None:
    chains = [chain(source="s0", values={"ssim": [0.9, 0.8]}), chain(source="s1", values={"lpips": [0.1, 0.2]})]
    result = analyse(given(chains), FAST)
    assert curve(result, "ssim", "n_missing") == [0, 1, 1]


def test_psnr_averages_the_error_and_survives_infinity(chain: Make, given: Given) -> None:
    chains = [
        *(chain(source=f"s{n}", values={"psnr": [inf, inf]}) for n in range(3)),
        *(chain(source=f"s{n}", values={"psnr": [inf, 20.0]}) for n in range(3, 6)),
    ]
    result = analyse(given(chains), FAST)
    assert curve(result, "psnr") == [None, inf, pytest.approx(23.0103)]
    assert 17 < curve(result, "psnr", "low")[2] < 23
    assert curve(result, "psnr", "high")[2] > 23.0104
    assert set(curve(result, "psnr", "averaging")) == {"mean squared error"}


def test_groups_are_all_category_kind_and_pair(chain: Make, given: Given) -> None:
    chains = [
        chain(source="s0", values={"ssim": [0.9]}),
        chain(source="s1", values={"ssim": [0.5]}, pair="flip", kind="scene", category="geometric"),
    ]
    result = analyse(given(chains), FAST)
    assert result.curves["group"].unique(maintain_order=True).to_list() == [
        *("all", "category:accessories", "category:geometric"),
        *("kind:face", "kind:scene", "pair:flip", "pair:hat"),
    ]
    assert curve(result, "ssim", group="pair:flip") == [1.0, 0.5]
    assert curve(result, "ssim", group="kind:face") == [1.0, 0.9]


def test_intervals_are_clustered_by_source(chain: Make, given: Given) -> None:
    levels = [0.9, 0.7, 0.8, 0.6, 0.75]
    single = [chain(source=f"s{n}", values={"ssim": [level]}) for n, level in enumerate(levels)]
    copied = [
        chain(source=f"s{n}", values={"ssim": [level]}, replicate=copy)
        for n, level in enumerate(levels)
        for copy in range(9)
    ]
    one, nine = (analyse(given(chains), FAST) for chains in (single, copied))
    assert curve(nine, "ssim", "low") == pytest.approx(curve(one, "ssim", "low"))
    assert curve(nine, "ssim", "n_cases") == [45, 45]
    assert curve(nine, "ssim", "n_sources") == [5, 5]


def test_lags_adherence_and_diagnostics_have_no_curve(chain: Make, given: Given) -> None:
    values = {"rmse": [0.1], "rmse-lag1": [0.1], "happened": [0.9], "noise": [1.0]}
    assert analyse(given([chain(values=values)]), FAST).curves["metric"].unique().to_list() == ["rmse"]


def test_a_forward_edit_whose_undoing_was_refused_is_adherence_and_no_missing_round(chain: Make, given: Given) -> None:
    refused = chain(values={"ssim": [0.9], "happened": [0.8, 0.6]}, status="refused", rounds=1, planned=3)
    result = analyse(given([refused]), FAST)
    assert curve(result, "ssim", "n_missing") == [0, 0]
    row = result.adherence.filter(group="all").to_dicts()[0]
    assert (row["n_readings"], row["n_missing"], row["mean"]) == (2, 0, pytest.approx(0.7))


def test_a_metric_without_facts_has_a_curve_from_round_one_and_nothing_else(chain: Make, given: Given) -> None:
    result = analyse(given([chain(values={"stranger": [3.0, 4.0], "ssim": [0.9, 0.8]})]), FAST)
    assert curve(result, "stranger") == [None, 3.0, 4.0]
    assert result.auc["metric"].unique().to_list() == ["ssim"]
    assert result.half_life["metric"].unique(maintain_order=True).to_list() == ["ssim", "usable"]


def test_a_source_that_nobody_rated_is_not_counted(chain: Make, given: Given) -> None:
    """Runs from before sources were rated have no round 0 of metrics without a reference; an own score counts."""
    inputs = given([chain(values={"ssim": [0.9], "alone": [4.0]})])
    alone = MetricFacts("alone", "no-reference", "lower", (0, 100), "by itself")
    inputs = replace(inputs, facts={**inputs.facts, "alone": alone})
    result = analyse(inputs, FAST)
    assert (curve(result, "alone"), curve(result, "alone", "n_cases")) == ([None, 4.0], [0, 1])
    assert curve(result, "alone", "n_missing") == [1, 0]
    assert curve(result, "ssim", "n_cases") == [1, 1]
