"""`--as pico` writes the files of Pico-Banana-400K, key by key, and what is written can be imported again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest

from convergebench.datasets.export import ExportOptions, export
from convergebench.datasets.layouts import read_chains
from convergebench.edits.taxonomy import taxonomy
from convergebench.errors import StudyError
from convergebench.store.manifest import read_manifest
from tests.datasets.factory.made import StrictJudge, lines, make
from tests.datasets.imported import import_set, measured

SFT = {"open_image_input_url", "text", "output_image", "edit_type", "summarized_text"}
"""Keys of the published file; `local_input_image` is what its mapping tool adds."""


def test_the_keys_are_those_of_the_published_set(factory_sets: Path) -> None:
    root = factory_sets / "pico"
    names = {one.name for one in taxonomy().values()}
    for row in lines(root / "jsonl" / "sft.jsonl"):
        assert row.keys() == SFT | {"local_input_image"}
        assert row["edit_type"] in names
        assert row["output_image"].startswith("images/positive-edit/")
        assert row["open_image_input_url"].startswith("https://example.org/photos/")
        assert row["summarized_text"] == "just do it"
        assert (root / row["output_image"]).is_file()
    pairs = lines(root / "jsonl" / "preference.jsonl")
    assert len(pairs) > 2
    for row in pairs:
        assert row.keys() == SFT | {"rejected_images", "local_input_image"}
        assert 1 <= len(row["rejected_images"]) <= 2
        assert all(
            name.startswith("images/negative-edit/") and (root / name).is_file() for name in row["rejected_images"]
        )
    records = lines(root / "records" / "multi-turn.jsonl")
    for row, record in zip(lines(root / "jsonl" / "multi-turn.jsonl"), records, strict=True):
        ids = [one["id"] for one in row["files"]]
        turns = len(row["metadata_edit_turn_prompts"])
        assert ids == [*(f"edit_turn{turn}" for turn in range(1, turns)), "final_image", "original_input_image"]
        hashes = [hashlib.sha256((root / one["url"]).read_bytes()).hexdigest() for one in row["files"][:-1]]
        assert hashes == record["turn_sha256"], "the last turn is the final image"


def test_one_preference_row_holds_all_rejected_pictures_of_its_edit(factory_sets: Path) -> None:
    root = factory_sets / "pico"
    records = lines(root / "records" / "preference.jsonl")
    first = [(row["chosen_image"], row["rejected_image"]) for row in records if row["turn"] == 1]
    listed = [
        (row["output_image"], name)
        for row in lines(root / "jsonl" / "preference.jsonl")
        for name in row["rejected_images"]
    ]
    assert listed == first
    assert any(row["turn"] > 1 for row in records), "later turns are only in records/"
    assert len({chosen for chosen, _ in first}) == len(lines(root / "jsonl" / "preference.jsonl"))


def test_nothing_but_the_rows_pictures_is_in_the_set(factory_sets: Path) -> None:
    root = factory_sets / "pico"
    there = {path.relative_to(root).as_posix() for path in (root / "images").rglob("*") if path.is_file()}
    named: set[str] = set()
    for path in (root / "records").iterdir():
        for row in lines(path):
            named |= {row[key] for key in row if key.endswith("_image") and row[key]} | set(
                row.get("output_images", ())
            )
    assert there == named


def test_another_study_has_no_such_rows(small_run: Path, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"--as pico is for runs that make training rows .* use --as hf"):
        export(small_run, tmp_path / "set", ExportOptions("pico"))
    assert not list(tmp_path.iterdir())


def test_a_run_without_an_accepted_edit_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    run = make(tmp_path / "run", judge=StrictJudge(), threshold=0.95)
    with pytest.raises(StudyError, match="no edit was accepted"):
        export(run, tmp_path / "set", ExportOptions("pico"))
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_exported_and_imported_again_it_has_the_same_pictures_and_words(factory_sets: Path, tmp_path: Path) -> None:
    root = factory_sets / "pico"
    frames = import_set(root, tmp_path / "run")
    steps = frames.steps().filter(pl.col("index") > 0)
    found = {
        (row["pair"], row["instruction"], (tmp_path / "run" / row["image"]).read_bytes())
        for row in steps.iter_rows(named=True)
    }
    expected = {
        ("pico-sft", row["text"], (root / row["output_image"]).read_bytes())
        for row in lines(root / "jsonl" / "sft.jsonl")
    }
    for row in lines(root / "jsonl" / "preference.jsonl"):
        expected |= {("pico-rejected", row["text"], (root / name).read_bytes()) for name in row["rejected_images"]}
    for row in lines(root / "jsonl" / "multi-turn.jsonl"):
        turns = zip(row["files"], row["metadata_edit_turn_prompts"], strict=False)
        expected |= {("pico", words, (root / one["url"]).read_bytes()) for one, words in turns}
    assert found == expected
    manifest = read_manifest(tmp_path / "run" / "manifest.json")
    assert list(manifest.editors) == ["instant"], "as the records beside Pico's files say"
    assert {source["licence"] for source in manifest.sources.values()} == {"CC-BY-2.0"}
    assert set(manifest.sources) == {row["image_name"] for row in lines(root / "records" / "sft.jsonl")}
    values = measured(frames, "background-ssim")
    assert values.filter(pl.col("pair") == "pico-rejected").height > 0, "and can be measured, the rejected ones too"


def test_edits_and_sources_keep_their_own_licences(factory: Path, tmp_path: Path) -> None:
    export(factory, tmp_path / "set", ExportOptions("pico", licence="CC-BY-4.0"))
    _, _, found = read_chains(tmp_path / "set")
    assert {(chain.licence, chain.source.licence) for chain in found.chains} == {("CC-BY-4.0", "CC-BY-2.0")}


def test_it_is_recognised_as_what_it_is(factory_sets: Path) -> None:
    name, why, found = read_chains(factory_sets / "pico")
    assert name == "pico"
    assert "metadata_edit_turn_prompts" in why
    assert not found.faults
    (note,) = found.notes
    repeated = len(lines(factory_sets / "pico" / "jsonl" / "preference.jsonl"))
    assert note == f"{repeated} rows repeat an edit that was already read", "a chosen picture is an example already"


def test_cards_and_croissant_files_lead_to_the_rows(factory_sets: Path) -> None:
    described = json.loads((factory_sets / "pico" / "croissant.json").read_text())
    assert {one["@id"] for one in described["recordSet"]} == {
        f"{name}-train-records" for name in ("sft", "preference", "multi_turn")
    }
