"""Every form of a data set is read back by the libraries of others, offline, with the same bytes and the same words."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from convergebench.datasets.export import ExportOptions, export
from convergebench.datasets.formats import TABLE, format_class
from convergebench.datasets.patches import PatchPlan
from convergebench.datasets.splits import read_splits
from convergebench.errors import Prerequisite
from tests.datasets.small_run import PICTURES

SHARD = 12_000
"""Bytes, so small that there are several shards."""
PER_PICTURE = 2
FORMS = [form for form in TABLE if form != "pico"]
"""`pico` is for runs that make training rows: tests/datasets/factory."""


@pytest.fixture(scope="module")
def sets(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All forms of single pictures, a folder each."""
    root = tmp_path_factory.mktemp("sets")
    for form in FORMS:
        plan = PatchPlan(16, PER_PICTURE)
        export(small_run, root / form, ExportOptions(form, include_restricted=True, patches=plan, shard_bytes=SHARD))
    return root


@pytest.fixture(scope="module")
def expected(sets: Path) -> dict[str, dict[str, Any]]:
    """The records by their ids, out of the plainest form."""
    lines = (sets / "imagefolder" / "data" / "train" / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == PICTURES
    return {row["id"]: {name: value for name, value in row.items() if name != "file_name"} for row in rows}


def stored(image: dict[str, Any]) -> bytes:
    return image["bytes"] if image["bytes"] is not None else Path(image["path"]).read_bytes()


def undecoded(loaded: Any) -> Any:
    from datasets import Image as Feature

    pictures = [name for name, feature in loaded.features.items() if isinstance(feature, Feature)]
    assert pictures, loaded.features
    for name in pictures:
        loaded = loaded.cast_column(name, Feature(decode=False))
    return loaded


@pytest.mark.parametrize("form", [form for form in FORMS if form != "webdataset"])
def test_a_set_loads_back_with_the_same_bytes_and_fields(
    sets: Path, hugging: Any, expected: dict[str, dict[str, Any]], form: str
) -> None:
    loaded = hugging(str(sets / form), split="train")
    assert isinstance(loaded[0]["image"], Image.Image)
    found = {}
    for row in undecoded(loaded):
        picture = stored(row.pop("image"))
        assert hashlib.sha256(picture).hexdigest() == row["sha256"]
        found[row["id"]] = row
    assert found == expected


def test_a_webdataset_loads_back_with_one_column_per_kind_of_file(
    sets: Path, hugging: Any, expected: dict[str, dict[str, Any]]
) -> None:
    loaded = hugging(str(sets / "webdataset"), split="train")
    assert set(loaded.column_names) == {"png", "jpg", "json", "__key__", "__url__"}
    found = {}
    for row in undecoded(loaded):
        (picture,) = (row[suffix] for suffix in ("png", "jpg") if row[suffix] is not None)
        assert hashlib.sha256(stored(picture)).hexdigest() == row["json"]["sha256"]
        found[row["json"]["id"]] = row["json"]
    assert found == expected


@pytest.mark.parametrize("form", ["imagefolder", "hf"])
def test_patches_are_a_configuration_of_their_own(sets: Path, hugging: Any, form: str) -> None:
    loaded = hugging(str(sets / form), "patches", split="train")
    assert loaded.num_rows == PER_PICTURE * PICTURES
    assert {image.size for image in loaded["image"]} == {(16, 16)}


def test_a_repository_for_the_hub_has_its_other_tables_too(sets: Path, hugging: Any) -> None:
    values = hugging(str(sets / "hf"), "measurements", split="train")
    assert float("inf") in values["value"]
    labels = hugging(str(sets / "hf"), "labels", split="train")
    assert set(labels["present"]) == {True, False, None}
    assert hugging(str(sets / "hf"), "without_image", split="train")["status"] == ["refused"]
    assert "*.parquet" in (sets / "hf" / ".gitattributes").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["imagefolder", "parquet"])
def test_splits_load_back_although_a_column_is_empty_in_one_of_them(
    small_run: Path, tmp_path: Path, hugging: Any, form: str
) -> None:
    splits = read_splits("origin")
    out = export(small_run, tmp_path / form, ExportOptions(form, include_restricted=True, splits=splits)).out
    loaded = hugging(str(out))
    assert {split: set(rows["image_name"]) for split, rows in loaded.items()} == {
        "drawn": {"free"},
        "photograph": {"shared"},
        "unknown": {"held"},
    }
    assert set(loaded["unknown"]["origin"]) == {None}


def test_shards_keep_to_their_size(sets: Path) -> None:
    import pyarrow.parquet as pq

    shards = sorted((sets / "parquet" / "data").iterdir())
    assert [shard.name for shard in shards] == [
        f"train-{index:05}-of-{len(shards):05}.parquet" for index in range(len(shards))
    ]
    assert len(shards) > 3
    for shard in shards:
        pictures = pq.read_table(shard, columns=["image"])["image"].to_pylist()
        assert sum(len(picture["bytes"]) for picture in pictures) <= SHARD
    assert len(list((sets / "webdataset" / "data" / "train").glob("*.tar"))) > 3


def test_a_picture_and_its_record_lie_side_by_side_in_one_tar(sets: Path) -> None:
    count = 0
    for shard in sorted((sets / "webdataset" / "data" / "train").glob("*.tar")):
        with tarfile.open(shard) as archive:
            names = archive.getnames()
        for picture, record in zip(names[::2], names[1::2], strict=True):
            key, _, suffix = picture.partition(".")
            assert record == f"{key}.json"
            assert suffix in ("png", "jpg")
            count += 1
    assert count == PICTURES


def test_the_banana100_layout_says_image_variant_run_and_step(sets: Path, expected: dict[str, dict[str, Any]]) -> None:
    import polars as pl

    out = sets / "banana100"
    assert (out / "reluctant-v1.5" / "shared" / "rotate" / "run_0" / "step_002.png").exists()
    sheet = pl.read_csv(out / "metadata.csv", infer_schema=False)
    lines = [json.loads(line) for line in (out / "metadata.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sheet["id"].to_list() == [row["id"] for row in lines]
    assert {row["id"] for row in lines} == expected.keys()
    for row in lines:
        file = hashlib.sha256((out / row["file_name"]).read_bytes())
        assert file.hexdigest() == row["sha256"]


def test_one_editor_needs_no_folder_of_its_own(tmp_path: Path) -> None:
    from convergebench.datasets.fields import steps_table
    from convergebench.datasets.formats.banana100 import Banana100

    form = Banana100(tmp_path, ["train"], editors=["sim-jpeg"], shard_bytes=SHARD)
    record = {"editor": "sim-jpeg", "image_name": "a/b", "variant": "mirror", "run_index": 4, "step_index": 7}
    table = steps_table([])
    assert form.place(table, {**record, "chain_id": "one"}) == "a-b/mirror/run_4/step_007"
    other = form.place(table, {**record, "image_name": "a:b", "chain_id": "two"})
    assert other.startswith("a-b-"), "names that became alike are still told apart"
    assert other.endswith("/mirror/run_4/step_007")


@pytest.mark.parametrize("name", ["README.md", "readme.MD", "croissant.json", "metadata.csv", "tables", "patches"])
def test_an_image_may_be_called_as_a_file_of_the_set_is(tmp_path: Path, name: str) -> None:
    from convergebench.datasets.fields import steps_table
    from convergebench.datasets.formats.banana100 import Banana100

    form = Banana100(tmp_path, ["train"], editors=["sim-jpeg"], shard_bytes=SHARD)
    record = {"editor": "sim-jpeg", "image_name": name, "variant": "mirror", "run_index": 0, "step_index": 1}
    top, *below = form.place(steps_table([]), {**record, "chain_id": "one"}).split("/")
    assert top.startswith(f"{name}-")
    assert below == ["mirror", "run_0", "step_001"]


RECORD_SETS = {
    "imagefolder": {"steps-train-records": PICTURES, "steps-train-pictures-files": PICTURES},
    "banana100": {"steps-train-records": PICTURES, "patches-train-pictures-files": PER_PICTURE * PICTURES},
    "parquet": {"steps-train-records": PICTURES, "patches-train-records": PER_PICTURE * PICTURES},
    "webdataset": {"steps-train-records": PICTURES, "steps-train-files": PICTURES},
    "hf": {},
}


@pytest.fixture(scope="module")
def croissant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The reference reader; it looks at its cache folder once, when it is loaded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CROISSANT_CACHE", str(tmp_path_factory.mktemp("croissant")))
        yield pytest.importorskip("mlcroissant")


# the reader uses what its own libraries call old, and leaves files to the garbage collector
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("form", FORMS)
def test_the_croissant_file_is_valid_and_leads_to_the_records(
    sets: Path, form: str, croissant: Any, expected: dict[str, dict[str, Any]]
) -> None:
    described = croissant.Dataset(jsonld=str(sets / form / "croissant.json"))
    assert not described.metadata.ctx.issues.errors
    assert not described.metadata.ctx.issues.warnings
    for name, count in RECORD_SETS[form].items():
        rows = list(described.records(name))
        assert len(rows) == count
        if f"{name}/image" in rows[0]:
            assert isinstance(rows[0][f"{name}/image"], Image.Image)
        if f"{name}/id" in rows[0] and name.startswith("steps"):
            assert {row[f"{name}/id"].decode() for row in rows} == expected.keys()
            values = {row[f"{name}/id"].decode(): row[f"{name}/measurements"] for row in rows}
            one = "sim-jpeg/free/replicate/0/2"
            assert values[one][f"{name}/measurements/ssim"] == pytest.approx(expected[one]["measurements"]["ssim"])
        if f"{name}/json" in rows[0]:
            assert {json.loads(row[f"{name}/json"])["id"] for row in rows} == expected.keys()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_webdataset_library_reads_it(sets: Path, expected: dict[str, dict[str, Any]]) -> None:
    library = pytest.importorskip("webdataset")
    shards = [str(path) for path in sorted((sets / "webdataset" / "data" / "train").glob("*.tar"))]
    found = {}
    for picture, record in library.WebDataset(shards, shardshuffle=False).to_tuple("png;jpg", "json"):
        kept = json.loads(record)
        assert Image.open(io.BytesIO(picture)).size == (kept["width"], kept["height"])
        found[kept["id"]] = kept
    assert found == expected


@pytest.mark.parametrize("form", ["parquet", "hf"])
def test_without_pyarrow_one_is_told_what_to_install(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("parquet", "hub"):
        monkeypatch.delitem(sys.modules, f"convergebench.datasets.formats.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(Prerequisite, match=rf"--as {form} needs pyarrow: pip install 'convergebench\[datasets\]'"):
        format_class(form)
