"""What `cbench export` writes comes back as the same chains, with the same values, whatever the form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.cli.interrupt import run_engine
from convergebench.datasets.export import Wishes, export
from convergebench.datasets.layouts import read_chains
from convergebench.engine.progress import Progress
from convergebench.engine.session import begin, prepare
from convergebench.store.frames import RunFrames
from convergebench.store.manifest import read_manifest
from convergebench.store.run import Run
from convergebench.studies.spec import parse_spec
from tests.datasets import sets
from tests.datasets.imported import import_set, measured

METRICS = ("psnr", "ssim", "happened", "background-ssim")
COLUMNS = (
    *("editor", "case", "source", "kind", "pair", "category", "replicate", "round", "step", "metric", "role"),
    *("value", "status"),
)


def run_study(root: Path, study: dict[str, Any]) -> RunFrames:
    sets.save(root / "pictures" / "object" / "bowl.png", sets.png(sets.scene(0)))
    spec = {"images": {"suite": str(root / "pictures")}, "measure": {"metrics": ["psnr"]}, **study}
    prepared = prepare(parse_spec(spec))
    with Run.create(root / "run") as opened:
        begin(opened, prepared)
        assert run_engine(opened, prepared, Progress(), max_cost=None, reuse=[]).stopped is None
    return RunFrames(root / "run")


REPLICATE = {
    "study": "replicate",
    "editors": ["sim-jpeg", "sim-tint"],
    "replicate": {
        "steps": 3,
        "runs": 1,
        "grid": [
            {"variants": ["replicate"], "independent": True},
            {"variants": ["rotate", "monochrome-colour", "add-apples"]},
        ],
    },
}
ROUND_TRIPS = {
    "study": "roundtrip",
    "editors": ["sim-jpeg"],
    "edits": {"pairs": ["red-ball", "rotate-90"]},
    "roundtrip": {"rounds": 2, "replicates": 2},
}


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFrames, pl.DataFrame]:
    frames = run_study(tmp_path_factory.mktemp("ours"), REPLICATE)
    return frames, measured(frames, *METRICS).select(COLUMNS).sort(COLUMNS)


@pytest.mark.parametrize("form", ["imagefolder", "banana100", "parquet", "webdataset", "hf"])
def test_every_value_of_an_exported_run_comes_back(
    form: str, ours: tuple[RunFrames, pl.DataFrame], tmp_path: Path
) -> None:
    if form in ("parquet", "hf"):
        pytest.importorskip("pyarrow")
    frames, values = ours
    export(frames.root, tmp_path / "set", Wishes(form))
    theirs = import_set(tmp_path / "set", tmp_path / "run")
    assert measured(theirs, *METRICS).select(COLUMNS).sort(COLUMNS).equals(values)
    same = ["editor", "case", "index", "instruction", "image", "width", "status", "model", "reasoning", "leg", "round"]
    assert theirs.steps().select(same).equals(frames.steps().select(same))
    manifests = [read_manifest(one.root / "manifest.json") for one in (frames, theirs)]
    assert manifests[0].pairs == manifests[1].pairs
    assert all(editor["simulated"] for editor in manifests[1].editors.values())
    seeds = [json.loads(used)["seed"] for used in theirs.steps()["used"].drop_nulls()]
    assert seeds == frames.steps().filter(pl.col("index") > 0)["seed"].to_list()


def test_exported_round_trips_come_back_as_round_trips(tmp_path: Path) -> None:
    frames = run_study(tmp_path, ROUND_TRIPS)
    values = measured(frames, *METRICS, "undone").select(COLUMNS).sort(COLUMNS)
    export(tmp_path / "run", tmp_path / "set", Wishes("imagefolder"))
    theirs = import_set(tmp_path / "set", tmp_path / "again")
    assert read_manifest(theirs.root / "manifest.json").study == "roundtrip"
    assert measured(theirs, *METRICS, "undone").select(COLUMNS).sort(COLUMNS).equals(values)


def test_a_picture_that_is_gone_is_named_and_breaks_only_its_chain(
    ours: tuple[RunFrames, pl.DataFrame], tmp_path: Path
) -> None:
    export(ours[0].root, tmp_path / "set", Wishes("imagefolder"))
    gone = next((tmp_path / "set").rglob("sim-tint--bowl--rotate--0/002.png"))
    gone.unlink()
    _, _, found = read_chains(tmp_path / "set")
    assert len(found.chains) == 9
    assert len(found.faults) == 1
    assert f"no file {gone}; get the whole set" in found.faults[0]
