"""Where chance is: means per metric, and the closeness of a chain that returns chance every round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.anchors import anchor_table
from convergebench.analysis.schemas import OUTPUTS
from convergebench.metrics.base import MetricFacts

Make = Callable[..., dict[str, Any]]
Given = Callable[..., AnalysisInput]
Facts = dict[str, MetricFacts]
FAST = AnalysisSettings(draws=200, chain_draws=20)
Cell = float | str
"""A value, or the status that stands in its place."""


def table(values: Mapping[tuple[str, str], list[Cell]]) -> pl.DataFrame:
    """The store's table out of (anchor, metric) → one cell per source."""
    rows = [
        {
            **{"source": f"s{place:02}", "anchor": anchor, "metric": metric, "fingerprint": "f"},
            "value": None if isinstance(cell, str) else cell,
            "status": cell if isinstance(cell, str) else "ok",
            "detail": "",
        }
        for (anchor, metric), cells in values.items()
        for place, cell in enumerate(cells)
    ]
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64})


def row(frame: pl.DataFrame, anchor: str, metric: str) -> dict[str, Any]:
    (found,) = frame.filter(anchor=anchor, metric=metric).to_dicts()
    return found


def test_the_mean_over_sources_stands_with_its_interval_and_its_count(facts: Facts) -> None:
    values: list[Cell] = [0.0, 0.1, 0.2, 0.1, 0.0, 0.2, 0.1, 0.1]
    found = row(anchor_table(table({("noise", "ssim"): values}), facts, FAST, rounds=4), "noise", "ssim")
    assert found["mean"] == pytest.approx(0.1)
    assert found["low"] < 0.1 < found["high"]
    assert (found["n_sources"], found["n_lost"]) == (8, 0)


def test_the_area_is_that_of_a_chain_which_returns_it_every_round(facts: Facts) -> None:
    """Trapezoids from 1: ((1 + 0.2)/2 + 3 · 0.2) / 4."""
    frame = anchor_table(table({("noise", "ssim"): [0.2] * 6, ("noise", "lpips"): [0.8] * 6}), facts, FAST, rounds=4)
    assert row(frame, "noise", "ssim")["area"] == pytest.approx(0.3)
    assert row(frame, "noise", "lpips")["area"] == pytest.approx(0.3)
    assert row(frame, "noise", "closeness")["mean"] == pytest.approx(30)


def test_what_cannot_be_measured_or_is_worse_than_unrelated_keeps_nothing(facts: Facts) -> None:
    cells: dict[tuple[str, str], list[Cell]] = {("grey", "gist"): ["featureless"] * 6, ("noise", "gist"): [-0.4] * 6}
    frame = anchor_table(table(cells), facts, FAST, rounds=4)
    lost = row(frame, "grey", "gist")
    assert (lost["mean"], lost["n_sources"], lost["n_lost"]) == (None, 6, 6)
    assert lost["area"] == row(frame, "noise", "gist")["area"] == pytest.approx(0.5 / 4)
    assert row(frame, "noise", "gist")["mean"] == pytest.approx(-0.4)
    assert row(frame, "grey", "closeness")["n_lost"] == 6


def test_a_source_that_cannot_be_measured_is_left_out(facts: Facts) -> None:
    cells: list[Cell] = ["source-unfit", 0.2, 0.2, 0.2, 0.2, 0.2]
    frame = anchor_table(table({("noise", "gist"): cells, ("noise", "ssim"): [0.2] * 6}), facts, FAST, rounds=1)
    assert (row(frame, "noise", "gist")["n_sources"], row(frame, "noise", "gist")["n_lost"]) == (5, 0)
    assert row(frame, "noise", "ssim")["n_sources"] == 6
    assert row(frame, "noise", "closeness")["n_sources"] == 5


def test_closeness_is_what_an_editor_gets_who_returns_chance(chain: Make, given: Given, facts: Facts) -> None:
    """Through the whole analysis: per source its own values, one of them lost, one worse than unrelated."""
    numbers = np.random.default_rng(4)
    ssim = [float(value) for value in numbers.uniform(0, 0.5, 6)]
    gist: list[Cell] = [*(float(value) for value in numbers.uniform(0, 0.5, 4)), -0.3, "featureless"]
    chains = [
        chain("model", f"s{place:02}", {"ssim": [ssim[place]] * 3, "gist": [gist[place]] * 3}) for place in range(6)
    ]
    ranking = analyse(given(chains), FAST).ranking.to_dicts()[0]
    frame = anchor_table(table({("other", "ssim"): [*ssim], ("other", "gist"): gist}), facts, FAST, rounds=3)
    found = row(frame, "other", "closeness")
    assert found["mean"] == pytest.approx(ranking["closeness"])
    assert (found["low"], found["high"]) == pytest.approx((ranking["closeness_low"], ranking["closeness_high"]))


def test_decibels_are_averaged_as_squared_errors_and_have_no_area(facts: Facts) -> None:
    frame = anchor_table(table({("noise", "psnr"): [10.0, 20.0] * 4}), facts, FAST, rounds=3)
    found = row(frame, "noise", "psnr")
    assert found["mean"] == pytest.approx(-10 * np.log10((0.1 + 0.01) / 2))
    assert found["low"] < found["mean"] < found["high"]
    assert found["area"] is None
    assert frame.filter(metric="closeness").height == 0


def test_metrics_stand_in_the_runs_order_and_anchors_in_their_own(facts: Facts) -> None:
    cells: dict[tuple[str, str], list[Cell]] = {
        (anchor, metric): [0.1] * 5 for anchor in ("other", "grey", "noise") for metric in ("gist", "unknown", "ssim")
    }
    frame = anchor_table(table(cells), facts, FAST, rounds=2)
    assert frame["anchor"].unique(maintain_order=True).to_list() == ["noise", "grey", "other"]
    assert frame["metric"].to_list()[:3] == ["ssim", "gist", "closeness"]


def test_without_rows_or_without_rounds_there_is_nothing(facts: Facts) -> None:
    full = table({("noise", "ssim"): [0.1] * 3})
    for frame in (anchor_table(full.clear(), facts, FAST, rounds=3), anchor_table(full, facts, FAST, rounds=0)):
        assert frame.height == 0
        assert dict(frame.schema) == OUTPUTS["anchors"]
