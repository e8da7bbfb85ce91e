"""The subsets load with `datasets`, Polars and WebDataset; pairs have the columns that trainers expect."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image

from tests.datasets.factory.made import lines

SUBSETS = {"sft": "sft", "preference": "preference", "multi_turn": "multi-turn"}


def records(sets: Path, subset: str) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in lines(sets / "pico" / "records" / f"{SUBSETS[subset]}.jsonl")}


@pytest.mark.parametrize("form", ["parquet", "hf"])
@pytest.mark.parametrize("subset", SUBSETS)
def test_a_subset_is_a_configuration(factory_sets: Path, hugging: Any, form: str, subset: str) -> None:
    loaded = hugging(str(factory_sets / form), subset, split="train")
    expected = records(factory_sets, subset)
    assert set(loaded["id"]) == expected.keys()
    for row in loaded:
        told = expected[row["id"]]
        assert {name: row[name] for name in told if name in row} == {name: told[name] for name in told if name in row}
        assert isinstance(row["image"], Image.Image)


def test_pairs_are_ready_for_preference_training(factory_sets: Path, hugging: Any) -> None:
    pairs = hugging(str(factory_sets / "hf"), "preference", split="train")
    for row in pairs:
        assert isinstance(row["prompt"], str)
        for name in ("image", "chosen", "rejected"):
            assert row[name].size == (96, 96)
        assert row["margin"] == pytest.approx(row["chosen_score"] - row["rejected_score"])
        assert row["margin"] > 0
        assert row["chosen"].tobytes() != row["rejected"].tobytes()


def test_a_session_has_its_pictures_in_order(factory_sets: Path, hugging: Any) -> None:
    root = factory_sets / "pico"
    expected = records(factory_sets, "multi_turn")
    for row in hugging(str(factory_sets / "parquet"), "multi_turn", split="train"):
        told = expected[row["id"]]
        assert len(row["turns"]) == len(told["prompts"])
        for picture, name in zip(row["turns"], told["output_images"], strict=True):
            assert picture.tobytes() == Image.open(root / name).convert("RGB").tobytes()


def test_pico_files_load_too(factory_sets: Path, hugging: Any) -> None:
    loaded = hugging(str(factory_sets / "pico"), "preference", split="train")
    assert list(loaded) == [
        {name: row.get(name) for name in loaded.column_names}
        for row in lines(factory_sets / "pico" / "jsonl" / "preference.jsonl")
    ]
    sessions = hugging(str(factory_sets / "pico"), "multi_turn", split="train")
    assert sessions[0]["files"] == lines(factory_sets / "pico" / "jsonl" / "multi-turn.jsonl")[0]["files"]


def test_a_webdataset_has_every_picture_under_its_columns_name(factory_sets: Path, hugging: Any) -> None:
    root = factory_sets / "webdataset"
    for subset in SUBSETS:
        found: dict[str, dict[str, bytes]] = {}
        for shard in sorted((root / subset / "train").glob("*.tar")):
            with tarfile.open(shard) as archive:
                for member in archive:
                    key, _, name = member.name.partition(".")
                    stream = archive.extractfile(member)
                    assert stream is not None
                    found.setdefault(key, {})[name] = stream.read()
        told = {json.loads(files["json"])["id"]: files for files in found.values()}
        expected = records(factory_sets, subset)
        assert told.keys() == expected.keys()
        for identity, row in expected.items():
            turns = [f"turns_{number}" for number in range(1, len(row.get("prompts", ())) + 1)]
            columns = {"sft": ["edited_image"], "preference": ["chosen", "rejected"], "multi_turn": turns}[subset]
            assert told[identity].keys() == {"json", "image.png", *(f"{name}.png" for name in columns)}
            for name in columns:
                Image.open(io.BytesIO(told[identity][f"{name}.png"])).verify()
    loaded = hugging(str(root), "preference", split="train")
    assert isinstance(loaded[0]["chosen.png"], Image.Image)
    assert loaded[0]["json"]["prompt"]
    sessions = hugging(str(root), "multi_turn", split="train")
    last = {row["json"]["id"]: sum(row[f"turns_{at}.png"] is not None for at in (1, 2, 3)) for row in sessions}
    assert last == {identity: len(row["prompts"]) for identity, row in records(factory_sets, "multi_turn").items()}


def test_every_attempt_is_in_a_table(factory_sets: Path) -> None:
    attempts = pl.read_csv(factory_sets / "parquet" / "tables" / "attempts.csv")
    assert set(attempts["accepted"]) == {True, False}
    weights = {
        "instruction_compliance": 0.4,
        "seamlessness": 0.25,
        "preservation_balance": 0.2,
        "technical_quality": 0.15,
    }
    again = sum(pl.col(name) * weight for name, weight in weights.items())
    assert attempts.select((again - pl.col("score")).abs().max()).item() < 1e-9


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("form", ["pico", "parquet", "webdataset"])
def test_the_croissant_file_is_valid(
    factory_sets: Path, form: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CROISSANT_CACHE", str(tmp_path))
    croissant = pytest.importorskip("mlcroissant")
    described = croissant.Dataset(jsonld=str(factory_sets / form / "croissant.json"))
    assert not described.metadata.ctx.issues.errors
    assert not described.metadata.ctx.issues.warnings
    if form != "webdataset":
        rows = list(described.records("sft-train-records"))
        assert len(rows) == len(records(factory_sets, "sft"))
