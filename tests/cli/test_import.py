"""`cbench import`: chains that somebody else made are scored like our own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from convergebench.images.encode import encode_png
from tests.cli.conftest import World

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "flux-kontext-dev-roundtrips"


def record(folder: Path, rounds: int, *, half: bool = False, seed: int = 0) -> None:
    """A chain of noisier and noisier images."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(seed)
    pixels = random.integers(60, 180, (32, 32, 3))

    def save(name: str, noise: int) -> None:
        noisy = pixels + random.integers(-noise, noise + 1, pixels.shape)
        (folder / f"{name}.png").write_bytes(encode_png(noisy.astype(np.uint8)))

    save("I0_source", 0)
    for number in range(1, rounds + 1):
        save(f"I{number}_forward", 5 * number + 20)
        save(f"I{number}_backward", 5 * number)
    if half:
        save(f"I{rounds + 1}_forward", 50)


def measured(world: World, metric: str) -> pl.DataFrame:
    table = pl.read_parquet(world.root / "runs/imported/tables/measurements.parquet")
    return table.filter(pl.col("metric") == metric).sort("case", "round")


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published chains are not beside this checkout")
def test_psnr_and_ssim_of_published_chains_equal_the_published_numbers(world: World) -> None:
    world.cbench("import", str(PUBLISHED), "--run", "runs/imported", "--editor", "flux-kontext-dev")
    world.cbench("measure", "runs/imported", "--metric", "psnr", "--metric", "ssim-skimage")
    compared = 0
    for metric, key in (("psnr", "psnr"), ("ssim-skimage", "ssim_skimage_default")):
        table = measured(world, metric)
        values = {(row["case"], row["round"]): row["value"] for row in table.iter_rows(named=True)}
        for chain in json.loads((PUBLISHED / "published.json").read_text()):
            for entry in chain["rounds"]:
                assert values[chain["chain"], entry["round"]] == pytest.approx(entry[key], abs=1e-6)
                compared += 1
    assert compared == 2 * 27


def test_chains_can_be_added_and_a_changed_recording_is_refused(world: World) -> None:
    record(world.root / "chains" / "scene_01_red_ball", 3)
    importing = ("import", "chains", "--run", "runs/imported", "--editor", "theirs")
    world.cbench(*importing)
    record(world.root / "chains" / "scene_02_red_ball", 2, half=True, seed=1)
    world.cbench(*importing)
    world.cbench("measure", "runs/imported", "--metric", "psnr")
    assert measured(world, "psnr").select("case", "round").rows() == [
        ("scene_01_red_ball", 1),
        ("scene_01_red_ball", 2),
        ("scene_01_red_ball", 3),
        ("scene_02_red_ball", 1),
        ("scene_02_red_ball", 2),
    ]
    chains = pl.read_parquet(world.root / "runs/imported/tables/chains.parquet")
    assert dict(chains.select("case", "status").rows()) == {
        "scene_01_red_ball": "finished",
        "scene_02_red_ball": "ended",
    }
    first = world.root / "chains" / "scene_01_red_ball"
    shutil.copy(first / "I1_backward.png", first / "I2_backward.png")
    assert "recording theirs/scene_01_red_ball" in world.cbench(*importing, ok=False).stderr


def test_two_chains_of_one_source_and_pair_are_two_samples(world: World) -> None:
    for index in range(2):
        record(world.root / "chains" / f"take{index}", 2, seed=index)
    source = world.root / "chains" / "take0" / "I0_source.png"
    shutil.copy(source, world.root / "chains" / "take1" / "I0_source.png")
    world.cbench("import", "chains", "--run", "runs/imported", "--editor", "theirs")
    world.cbench("measure", "runs/imported", "--metric", "rmse")
    values = measured(world, "rmse")["value"].to_list()
    assert len(values) == 4
    assert values[0] != values[2]
    world.cbench("report", "runs/imported")
    assert (world.root / "runs/imported/report/index.html").exists()


def test_imported_chains_that_changed_size_are_measured_and_under_strict_it_is_said_how(world: World) -> None:
    record(world.root / "chains" / "scene_01_red_ball", 2)
    smaller = np.full((24, 32, 3), 90, np.uint8)
    (world.root / "chains" / "scene_01_red_ball" / "I2_backward.png").write_bytes(encode_png(smaller))
    world.cbench("import", "chains", "--run", "runs/imported", "--editor", "theirs")
    said = world.cbench("measure", "runs/imported", "--metric", "psnr", "--align", "strict")
    assert "no value for 1 (size)" in said.stdout
    assert "to measure them as well: cbench measure runs/imported --align auto" in said.stderr
    assert measured(world, "psnr")["status"].to_list() == ["ok", "size"]
    world.cbench("import", "chains", "--run", "runs/other", "--editor", "theirs")
    world.cbench("measure", "runs/other", "--metric", "psnr")
    rows = pl.read_parquet(world.root / "runs" / "other" / "tables" / "measurements.parquet").filter(role="return")
    assert rows["align"].unique().to_list() == ["auto"]
    assert rows["value"].null_count() == 0
