"""MSE-Bench: the benchmark's wishes with the pictures of one split per model."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from convergebench.datasets.layouts import read_chains
from convergebench.errors import StudyError
from tests.datasets import sets
from tests.datasets.imported import import_set, measured

RESULTS = Path("MSE-Bench-results") / "data"


def test_every_model_walks_the_same_cases_and_is_named_by_its_split(tmp_path: Path) -> None:
    frames = import_set(sets.mse_bench(tmp_path / "set"), tmp_path / "run")
    chains = frames.chains()
    assert chains.select("editor", "case").rows() == [
        (model, f"mse-bench-{index}/mse-bench/0") for model in ("model_a", "model_b") for index in (10, 11)
    ]
    steps = frames.steps().filter(pl.col("editor") == "model_b", pl.col("source") == "mse-bench-11")
    assert steps["instruction"].to_list() == ["", *(f"wish {turn} for 1" for turn in range(5))]
    assert (tmp_path / "run" / steps["image"][1]).read_bytes() == sets.png(sets.worn(sets.scene(1), 2))
    values = measured(frames, "background-ssim").pivot("editor", index=["case", "step"], values="value")
    assert (values["model_a"] > values["model_b"]).all(), "model_b is one step of wear ahead"


def test_a_model_that_stopped_early_is_a_chain_that_ended(tmp_path: Path) -> None:
    folder = sets.mse_bench(tmp_path / "set", ("model_a",))
    path = folder / RESULTS / "model_a-00000-of-00001.parquet"
    table = pl.read_parquet(path)
    empty = pl.lit(None, dtype=table.schema["turn_4_image"])
    first = pl.int_range(pl.len()) == 0
    table.with_columns(turn_4_image=pl.when(first).then(empty).otherwise("turn_4_image")).write_parquet(path)
    frames = import_set(folder, tmp_path / "run")
    assert frames.chains().select("status", "rounds", "planned").rows() == [("ended", 4, 5), ("finished", 5, 5)]


def test_a_hole_between_turns_is_a_fault(tmp_path: Path) -> None:
    folder = sets.mse_bench(tmp_path, ("model_a",))
    path = folder / RESULTS / "model_a-00000-of-00001.parquet"
    table = pl.read_parquet(path)
    table.with_columns(turn_2_image=pl.lit(None, dtype=table.schema["turn_2_image"])).write_parquet(path)
    _, _, found = read_chains(folder)
    assert not found.chains
    assert "MSE-Bench 10, model_a: no picture of turn 2, but later ones" in found.faults[0]


def test_results_and_benchmark_must_both_be_there_and_fit(tmp_path: Path) -> None:
    folder = sets.mse_bench(tmp_path)
    with pytest.raises(StudyError, match=r"not the benchmark they answer.*--images"):
        read_chains(folder / "MSE-Bench-results")
    with pytest.raises(StudyError, match="no images made from them"):
        read_chains(folder / "MSE-Bench")
    _, _, found = read_chains(folder / "MSE-Bench-results", "mse-bench", folder / "MSE-Bench")
    assert len(found.chains) == 4
    path = folder / RESULTS / "model_b-00000-of-00001.parquet"
    pl.read_parquet(path).head(1).write_parquet(path)
    with pytest.raises(StudyError, match="model_b: 1 rows of results for 2 of the benchmark"):
        read_chains(folder)


def test_rows_are_matched_by_index_where_the_results_have_one(tmp_path: Path) -> None:
    folder = sets.mse_bench(tmp_path, ("model_a",))
    path = folder / RESULTS / "model_a-00000-of-00001.parquet"
    pl.read_parquet(path).with_columns(index=pl.Series(["10", "11"])).reverse().write_parquet(path)
    _, _, found = read_chains(folder)
    first = next(chain for chain in found.chains if chain.source.id == "mse-bench-10")
    assert first.steps[0].picture.read() == sets.png(sets.worn(sets.scene(0), 1))
