"""One name for a metric and what it compares with, made and taken apart in one place."""

from __future__ import annotations

import polars as pl
import pytest

from convergebench.analysis.series import (
    Series,
    against_first,
    facts_of_series,
    named_series,
    parse_series,
    without_first,
)

NAMES = {
    "ssim": Series("ssim"),
    "ms-ssim": Series("ms-ssim"),
    "ssim-first": Series("ssim", "first"),
    "ms-ssim-first": Series("ms-ssim", "first"),
    "rmse-replicate": Series("rmse", "replicate"),
    "rmse-lag2": Series("rmse", "lag", 2),
    "rmse-lag12": Series("rmse", "lag", 12),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_taken_apart_and_put_together_again(name: str) -> None:
    assert parse_series(name) == NAMES[name]
    assert NAMES[name].name == name


def test_a_metric_whose_own_name_has_such_an_ending_is_itself() -> None:
    assert parse_series("safety-first", {"safety-first"}) == Series("safety-first")
    assert parse_series("safety-first-first", {"safety-first"}) == Series("safety-first", "first")


def test_a_role_of_a_study_s_own_is_known_by_its_metric() -> None:
    assert parse_series("lpips-clean", {"lpips"}) == Series("lpips", "clean")
    assert parse_series("ms-ssim", {"lpips"}) == Series("ms-ssim")


def test_facts_are_found_by_the_metric_behind_a_name() -> None:
    facts = {"ssim": 1, "ssim-first": 2}
    found = [facts_of_series(name, facts) for name in ("ssim", "ssim-first", "ssim-lag1", "rmse")]
    assert found == [1, 2, 1, None]


def test_the_ending_for_step_1_is_put_on_and_taken_off() -> None:
    assert against_first("ssim") == "ssim-first"
    assert [without_first(name) for name in ("ssim-first", "ssim", "ssim-lag1")] == ["ssim", "ssim", "ssim-lag1"]


def test_measurements_get_the_names_in_the_order_of_the_names() -> None:
    roles = [
        ("rmse", "return", 0), ("rmse", "lag", 2), ("rmse", "lag", 10), ("rmse", "first", 0), ("rmse", "replicate", 0),
        ("rmse", "around", 0), ("rmse", "step", 0), ("rmse", "clean", 0),
    ]  # fmt: skip
    rows = [{"editor": "e", "case": "c", "step": 1, "metric": m, "role": r, "lag": lag} for m, r, lag in roles]
    found = named_series(pl.DataFrame(rows))
    assert found.columns == ["editor", "case", "step", "metric", "role"]
    assert found.select("metric", "role").rows() == [
        ("rmse", "around"), ("rmse", "return"), ("rmse", "step"), ("rmse-clean", "clean"), ("rmse-first", "first"),
        ("rmse-lag10", "lag"), ("rmse-lag2", "lag"), ("rmse-replicate", "replicate"),
    ]  # fmt: skip
