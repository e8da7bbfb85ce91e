"""A variant beside its baseline: paired by image, at the same step."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.decay import comparable, with_step_1
from convergebench.analysis.variants import success_table, variant_table
from convergebench.metrics import load_metric

PAIRS: dict[str, dict[str, Any]] = {
    "replicate": {"family": "replication", "baseline": None, "operations": ["replicate"]},
    "temperature-0": {"family": "hyperparameter", "baseline": "replicate", "operations": ["replicate"]},
    "mirror": {"family": "multi-step", "baseline": "elsewhere", "operations": ["flip-horizontal"]},
    "monochrome-colour": {
        "family": "reconstruction", "baseline": "replicate", "operations": ["monochrome", "colourise"],
        "compared": "cycle",
    },
    "add-apples": {"family": "addition", "baseline": None, "operations": ["add"], "compared": "around"},
    "replicate-independent": {"family": "replication", "baseline": "replicate", "independent": True},
}  # fmt: skip
FACTS = {name: load_metric(name).facts for name in ("ssim", "psnr", "happened")}


def row(
    pair: str, source: str, step: int, value: float | None, *, metric: str = "ssim", run: int = 0
) -> dict[str, object]:
    status = "ok" if value is not None else "unaligned"
    return {
        "editor": "one", "case": f"{source}/{pair}/{run}", "source": source, "pair": pair, "category": "",
        "replicate": run, "round": step, "step": step, "metric": metric, "value": value, "status": status,
        "role": "forward" if metric == "happened" else "return",
    }  # fmt: skip


def chains_of(rows: list[dict[str, object]], *more: tuple[str, str, int]) -> pl.DataFrame:
    """Every chain that has a value, and more that have none."""
    known = {("one", str(row["source"]), str(row["pair"]), row["replicate"]) for row in rows}
    listed = [*known, *(("one", source, pair, run) for source, pair, run in more)]
    return pl.DataFrame(listed, schema=["editor", "source", "pair", "replicate"], orient="row")


def test_the_difference_is_taken_image_by_image_over_the_means_of_runs() -> None:
    rows = [
        row("replicate", "cat", 5, 0.9), row("replicate", "cat", 5, 0.7, run=1), row("temperature-0", "cat", 5, 0.6),
        row("replicate", "dog", 5, 0.5), row("temperature-0", "dog", 5, 0.4),
        row("temperature-0", "owl", 5, 0.1),  # no baseline: takes no part
    ]  # fmt: skip
    (found,) = variant_table(
        pl.DataFrame(rows), chains_of(rows), PAIRS, FACTS, points=(5,), bootstrap=Bootstrap(200)
    ).to_dicts()
    assert found["pair"] == "temperature-0"
    assert found["baseline"] == "replicate"
    assert found["difference"] == pytest.approx(((0.6 - 0.8) + (0.4 - 0.5)) / 2)
    assert (found["n_sources"], found["n_cases"], found["n_missing"]) == (2, 5, 0)
    assert (found["low"], found["high"]) == (None, None)  # two images


def test_the_last_common_step_is_there_whatever_the_points_are() -> None:
    rows = [row(pair, "cat", step, 0.5) for pair in ("replicate", "temperature-0") for step in (1, 2, 3)]
    rows.append(row("replicate", "cat", 4, 0.5))
    found = variant_table(pl.DataFrame(rows), chains_of(rows), PAIRS, FACTS, points=(1, 100), bootstrap=Bootstrap(200))
    assert found["step"].to_list() == [1, 3]


def test_one_image_has_no_interval_and_missing_values_are_counted() -> None:
    rows = [
        row("replicate", "cat", 1, 0.9),
        row("temperature-0", "cat", 1, 0.8),
        row("temperature-0", "cat", 1, None, run=1),
    ]
    (found,) = variant_table(
        pl.DataFrame(rows), chains_of(rows), PAIRS, FACTS, points=(1,), bootstrap=Bootstrap(200)
    ).to_dicts()
    assert found["low"] is None
    assert found["n_missing"] == 1


def test_a_run_that_was_refused_before_the_step_is_missing() -> None:
    rows = [row("replicate", "cat", 5, 0.9), row("temperature-0", "cat", 5, 0.8)]
    chains = chains_of(rows, ("cat", "temperature-0", 1), ("cat", "temperature-0", 2))
    (found,) = variant_table(pl.DataFrame(rows), chains, PAIRS, FACTS, points=(5,), bootstrap=Bootstrap(200)).to_dicts()
    assert (found["n_cases"], found["n_missing"]) == (2, 2)


def test_decibels_are_averaged_as_squared_errors() -> None:
    rows = [
        row("replicate", "cat", 1, 20.0, metric="psnr"),
        row("replicate", "cat", 1, 40.0, metric="psnr", run=1),
        row("temperature-0", "cat", 1, 20.0, metric="psnr"),
    ]
    (found,) = variant_table(
        pl.DataFrame(rows), chains_of(rows), PAIRS, FACTS, points=(1,), bootstrap=Bootstrap(200)
    ).to_dicts()
    assert found["baseline_mean"] == pytest.approx(22.967, abs=0.001)


def test_an_infinite_reading_is_no_mean() -> None:
    rows = [
        row("replicate", "cat", 1, float("inf"), metric="psnr"), row("temperature-0", "cat", 1, 30.0, metric="psnr")
    ]  # fmt: skip
    assert (
        variant_table(pl.DataFrame(rows), chains_of(rows), PAIRS, FACTS, points=(1,), bootstrap=Bootstrap(200)).height
        == 0
    )


def test_success_is_counted_by_what_the_step_asked_for() -> None:
    rows = [
        row("monochrome-colour", source, step, value, metric="happened")
        for source, values in (("cat", (0.9, 0.2, 0.8, 0.7)), ("dog", (0.3, 0.9, None, 0.6)))
        for step, value in enumerate(values, start=1)
    ]
    found = {
        one["operation"]: one for one in success_table(pl.DataFrame(rows), PAIRS, bootstrap=Bootstrap(200)).to_dicts()
    }
    assert (found["monochrome"]["done"], found["monochrome"]["steps"], found["monochrome"]["n_missing"]) == (2, 4, 1)
    assert found["monochrome"]["share"] == pytest.approx(2 / 3)
    assert found["colourise"]["share"] == pytest.approx(3 / 4)


def test_editors_are_ranked_by_the_chains_that_accumulate_and_should_show_the_source() -> None:
    chains = pl.DataFrame({"pair": list(PAIRS)})
    assert comparable(PAIRS, chains)["pair"].to_list() == ["replicate", "temperature-0", "mirror"]
    only = chains.filter(pl.col("pair") == "add-apples")
    assert comparable(PAIRS, only).height == 1, "a run of additions alone still has its own chains"
    cycles = chains.filter(pl.col("pair") == "monochrome-colour")
    assert comparable(PAIRS, cycles).height == 0, "one that shows its source now and then has no half-life"
    assert comparable({"glasses": {"forward": "Add glasses."}}, pl.DataFrame({"pair": ["glasses"]})).height == 1


def test_what_was_measured_against_step_1_has_facts_of_its_own_and_no_part_in_the_ranking() -> None:
    facts = with_step_1(FACTS, {"ssim", "ssim-first", "psnr"})
    assert set(facts) == {*FACTS, "ssim-first"}
    assert facts["ssim-first"].dimension == "none"
    assert facts["ssim-first"].noticeable == facts["ssim"].noticeable
