"""What a run holds stays whole while it grows, is measured otherwise, or meets a mistake on the way."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from convergebench.cli.measuring import _require_one_precision
from convergebench.cli.running import _with_flags
from convergebench.errors import StudyError
from convergebench.store.manifest import Manifest
from convergebench.studies import _table
from convergebench.studies.spec import parse_spec
from tests.cli.conftest import World


def measured(world: World, run: str) -> pl.DataFrame:
    return pl.read_parquet(world.root / run / "tables" / "measurements.parquet")


def test_a_metric_added_later_grows_with_the_run(world: World) -> None:
    study = ("run", "study.toml", "--run", "runs/one")
    world.cbench(*study, "--no-report")
    world.cbench("measure", "runs/one", "--metric", "gmsd")
    world.cbench(*study, "--rounds", "5")
    rounds = measured(world, "runs/one").filter(pl.col("metric") == "gmsd")["round"].unique().sort()
    assert rounds.to_list() == [1, 2, 3, 4, 5]


def test_another_alignment_is_measured_for_all_metrics_of_the_run(world: World) -> None:
    world.cbench("run", "study.toml", "--run", "runs/one", "--no-report")
    world.cbench("measure", "runs/one", "--metric", "gmsd", "--align", "fit")
    table = measured(world, "runs/one").filter(pl.col("role") == "return")
    assert set(table["metric"]) == {"psnr", "ssim", "rmse", "gist", "gmsd"}
    assert set(table["align"]) == {"fit"}


def test_a_forecast_counts_only_the_steps_of_the_cases_it_is_about(world: World) -> None:
    world.cbench("run", "study.toml", "--run", "runs/one", "--editor", "paid", "--no-report")
    study = world.root / "study.toml"
    study.write_text(study.read_text().replace('"flip-horizontal", "red-ball"', '"red-ball", "flip-vertical"'))
    said = world.cbench("run", "study.toml", "--run", "runs/one", "--editor", "paid", "--dry-run").stdout
    assert "at most 12 calls" in said


def test_a_source_that_was_broken_and_is_mended_goes_on_in_the_same_run(world: World) -> None:
    path = world.root / "pictures" / "scene" / "scene-0.png"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    failed = world.cbench("run", "study.toml", "--run", "runs/one", ok=False)
    assert "scene-0" in failed.stderr
    path.write_bytes(whole)
    world.cbench("run", "study.toml", "--run", "runs/one", "--no-report")


@pytest.mark.parametrize(
    ("editors", "said"),
    [
        (
            '[{ name = "one", use = "paid" }, { name = "two", use = "paid", seconds = 1.0 }]',
            "error: 'one' and 'two' are the same editor (paid@1)",
        ),
        (
            '[{ name = "one", use = "paid", sceonds = 1.0 }]',
            "error: editor 'one' cannot be made: TypeError: ",
        ),
    ],
)
def test_an_editor_that_cannot_be_is_one_line(world: World, editors: str, said: str) -> None:
    study = world.root / "study.toml"
    study.write_text(study.read_text().replace('["sim-perfect", "sim-tint"]', editors))
    failed = world.cbench("run", "study.toml", "--run", "runs/one", ok=False)
    assert failed.stderr.startswith(said)
    assert failed.stderr.count("\n") == 1
    assert not (world.root / "runs").exists()


def test_a_folder_that_cannot_be_written_is_one_line(world: World) -> None:
    failed = world.cbench("run", "study.toml", "--run", "/dev/null/run", ok=False)
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: /dev/null")
    assert failed.stderr.count("\n") == 1


def test_flags_reach_a_study_with_a_hyphen_in_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_table.TABLE, "there-and-back", "convergebench.studies.roundtrip:RoundTrip")
    spec = parse_spec({"study": "there-and-back", "there-and-back": {"rounds": 3}})
    flagged = _with_flags(spec, editor=None, suite=None, rounds=5, limit=None, metric=None)
    assert flagged.parameters.model_dump()["rounds"] == 5


def test_a_run_has_one_precision() -> None:
    """With two, `cbench measure RUN` alone would want the older networks anew and be refused for ever."""
    manifest = Manifest(
        "run", "roundtrip", "", {"measure": {"precision": "float32"}}, {}, metrics={"lpips": "lpips@1:0"}
    )
    _require_one_precision(manifest, None)
    _require_one_precision(manifest, "float32")
    _require_one_precision(replace(manifest, metrics={"psnr": "psnr@1:0"}), "bfloat16")
    with pytest.raises(
        StudyError, match=r"this run's networks \(lpips\) measure in float32, and a run has one precision"
    ):
        _require_one_precision(manifest, "bfloat16")
