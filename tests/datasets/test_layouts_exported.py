"""What `cbench export` writes comes back as the same chains, with the same values, whatever the form."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.conductor import run_chains
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.datasets.export import ExportOptions, export
from convergebench.datasets.layouts import read_chains
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
        assert run_chains(opened, prepared.editors, prepared.chains).stopped is None
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
    export(frames.root, tmp_path / "set", ExportOptions(form))
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
    export(tmp_path / "run", tmp_path / "set", ExportOptions("imagefolder"))
    theirs = import_set(tmp_path / "set", tmp_path / "again")
    assert read_manifest(theirs.root / "manifest.json").study == "roundtrip"
    assert measured(theirs, *METRICS, "undone").select(COLUMNS).sort(COLUMNS).equals(values)


def test_what_a_picture_was_made_from_is_known_after_import_too(
    ours: tuple[RunFrames, pl.DataFrame], tmp_path: Path
) -> None:
    export(ours[0].root, tmp_path / "set", ExportOptions("imagefolder"))
    import_set(tmp_path / "set", tmp_path / "run")
    export(tmp_path / "run", tmp_path / "again", ExportOptions("imagefolder"))
    first, again = (
        {
            row["id"]: row["parent_step"]
            for row in map(json.loads, (tmp_path / name / "data/train/metadata.jsonl").read_text("utf-8").splitlines())
        }
        for name in ("set", "again")
    )
    assert first == again
    assert [again[f"sim-jpeg/bowl/rotate/0/{step}"] for step in range(4)] == [None, 0, 1, 2]
    assert [again[f"sim-jpeg/bowl/replicate-independent/0/{step}"] for step in range(4)] == [None, 0, 0, 0]


def test_a_picture_that_is_gone_is_named_and_breaks_only_its_chain(
    ours: tuple[RunFrames, pl.DataFrame], tmp_path: Path
) -> None:
    export(ours[0].root, tmp_path / "set", ExportOptions("imagefolder"))
    gone = next((tmp_path / "set").rglob("sim-tint--bowl--rotate--0/002.png"))
    gone.unlink()
    _, _, found = read_chains(tmp_path / "set")
    assert len(found.chains) == 9
    assert len(found.faults) == 1
    assert f"no file {gone}; download the whole data set" in found.faults[0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [("CC-BY-4.0", "CC0-1.0"), ("CC-BY-NC-4.0", "CC-BY-NC-4.0")],
    ids=["the source keeps its own", "what allows less is not hidden"],
)
def test_licence_of_the_source_and_of_what_was_made_from_it_stay_apart(
    given: str, expected: str, tmp_path: Path
) -> None:
    rows = [
        {"chain_id": "m/im/replicate/0", "editor": "m", "variant": "replicate", "run_index": 0, "image_name": "im"}
        | {"step_index": step, "file_name": f"{step}.png", "source_licence": "CC0-1.0", "prompt": sets.COPY}
        | {"licence": given if step else "CC0-1.0"}
        for step in range(3)
    ]
    sets.save(tmp_path / "set" / "metadata.jsonl", "\n".join(map(json.dumps, rows)).encode())
    for step in range(3):
        sets.save(tmp_path / "set" / f"{step}.png", sets.png(sets.worn(sets.scene(), step)))
    frames = import_set(tmp_path / "set", tmp_path / "run")
    assert read_manifest(tmp_path / "run" / "manifest.json").sources["im"]["licence"] == expected
    assert [json.loads(used)["licence"] for used in frames.steps()["used"].drop_nulls()] == [given, given]


def test_a_shard_with_one_unreadable_record_loses_only_that(tmp_path: Path) -> None:
    row = {"chain_id": "m/a/v/0", "editor": "m", "variant": "v", "image_name": "a"}
    members = {f"a{step}.json": json.dumps({**row, "step_index": step}).encode() for step in range(2)}
    members |= {f"{name}.png": sets.png(sets.scene()) for name in ("a0", "a1", "b0")}
    with tarfile.open(tmp_path / "data-000.tar", "w") as archive:
        for name, data in {**members, "b0.json": b"[" * 100_000}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    _, _, found = read_chains(tmp_path)
    assert [len(chain.steps) for chain in found.chains] == [1]
    assert "b0.json is not valid JSON" in found.faults[0]
