"""What a run holds stays whole while it grows, is measured otherwise, or meets a mistake on the way."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from convergebench.conductor.measuring import require_one_precision
from convergebench.conductor.study import with_changes
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


DYING = """
from convergebench import Capabilities, Edited, Limits
from convergebench.errors import EditorError


class Dying:
    def __init__(self, name):
        self.name, self.fingerprint = name, "dying@1"
        self.capabilities, self.limits = Capabilities(), Limits()

    async def edit(self, request):
        if request.index > 8 and request.case.startswith("scene-1"):
            raise EditorError("out of order")
        return Edited(request.image, request.mime, "dying")
"""


def manifest(world: World, run: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((world.root / run / "manifest.json").read_text(encoding="utf-8"))
    return content


def chains(world: World, run: str) -> list[tuple[str, str, int, int]]:
    table = pl.read_parquet(world.root / run / "tables" / "chains.parquet")
    return table.select("source", "status", "rounds", "planned").sort("source").rows()


def test_asking_for_fewer_rounds_does_not_rewrite_what_the_run_is(world: World) -> None:
    (world.root / "dying.py").write_text(DYING)
    study = ("run", "study.toml", "--run", "runs/one", "--editor", "dying:Dying")
    world.cbench(*study, "--rounds", "6")
    whole, dead = ("scene-0", "finished", 6, 6), ("scene-1", "failed", 4, 6)
    assert chains(world, "runs/one") == [whole, whole, dead, dead]
    shown = world.cbench("show", "runs/one", "--json").stdout
    said = world.cbench(*study, "--rounds", "3").stderr
    assert "note: runs/one keeps what earlier commands asked for: 6 rounds (asked for 3); nothing is removed\n" in said
    assert chains(world, "runs/one") == [whole, whole, dead, dead]
    assert manifest(world, "runs/one")["spec"]["roundtrip"]["rounds"] == 6
    assert world.cbench("show", "runs/one", "--json").stdout == shown


def test_a_chain_that_lacks_even_the_fewer_rounds_is_walked_to_them_and_still_owes_the_rest(world: World) -> None:
    study = ("run", "study.toml", "--run", "runs/one", "--editor", "paid")
    world.cbench(*study, "--rounds", "6", "--max-cost", "0.5", "--no-report", ok=False)
    world.cbench(*study, "--rounds", "3")
    assert {(status, rounds, planned) for _, status, rounds, planned in chains(world, "runs/one")} == {("open", 3, 6)}
    assert world.calls == 4 * 6
    world.cbench(*study, "--rounds", "6")
    assert {(status, rounds, planned) for _, status, rounds, planned in chains(world, "runs/one")} == {
        ("finished", 6, 6)
    }
    assert world.calls == 4 * 12


def test_asking_for_fewer_images_replicates_metrics_or_editors_takes_nothing_away(world: World) -> None:
    study = world.root / "study.toml"
    study.write_text(study.read_text().replace("rounds = 3", "rounds = 1\nreplicates = 2"))
    world.cbench("run", "study.toml", "--run", "runs/one")
    before, held = manifest(world, "runs/one"), measured(world, "runs/one")
    study.write_text(study.read_text().replace("replicates = 2", "replicates = 1"))
    fewer = ("--limit", "1", "--metric", "psnr", "--editor", "sim-tint")
    said = world.cbench("run", "study.toml", "--run", "runs/one", *fewer).stderr
    assert "keeps what earlier commands asked for: 2 replicates (asked for 1), all images (asked for 1);" in said
    after = manifest(world, "runs/one")
    assert {**after, "sessions": before["sessions"]} == before
    assert measured(world, "runs/one").equals(held)


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
    flagged = with_changes(spec, rounds=5)
    assert flagged.parameters.model_dump()["rounds"] == 5


def test_a_suite_of_ones_own_is_taken_whole_unless_a_limit_is_given_too() -> None:
    spec = parse_spec({"study": "roundtrip", "images": {"suite": "quick", "limit": 6}})
    assert with_changes(spec, rounds=2).images.limit == 6
    assert with_changes(spec, suite="mine").images.limit == 0
    assert with_changes(spec, suite="mine", limit=2).images.limit == 2


def test_a_run_has_one_precision() -> None:
    """With two, `cbench measure RUN` alone would want the older networks anew and be refused for ever."""
    manifest = Manifest(
        "run", "roundtrip", "", {"measure": {"precision": "float32"}}, {}, metrics={"lpips": "lpips@1:0"}
    )
    require_one_precision(manifest, None)
    require_one_precision(manifest, "float32")
    require_one_precision(replace(manifest, metrics={"psnr": "psnr@1:0"}), "bfloat16")
    with pytest.raises(
        StudyError, match=r"this run's networks \(lpips\) measure in float32, and a run has one precision"
    ):
        require_one_precision(manifest, "bfloat16")
