"""Pico-Banana's sessions: JSON lines that name images, which are looked for on this disk and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.datasets.layouts import read_chains
from convergebench.store.manifest import read_manifest
from tests.datasets import sets
from tests.datasets.imported import import_set

LIST = Path("jsonl") / "multi-turn.jsonl"


def rewritten(folder: Path, row: dict[str, Any]) -> Path:
    (folder / LIST).write_text(json.dumps(row) + "\n")
    return folder


def test_final_image_is_the_last_turn(tmp_path: Path) -> None:
    frames = import_set(sets.pico(tmp_path / "set"), tmp_path / "run")
    long = frames.steps().filter(pl.col("source") == "pico-101_attemptB_o")
    assert long["instruction"].to_list() == ["", *(f"Wish {turn}" for turn in range(1, 6))]
    assert (tmp_path / "run" / long["image"][5]).read_bytes() == sets.png(sets.worn(sets.scene(0), 5))
    assert frames.chains()["rounds"].to_list() == [5, 2]


def test_editor_licence_and_address_stand_in_the_manifest(tmp_path: Path) -> None:
    import_set(sets.pico(tmp_path / "set"), tmp_path / "run")
    manifest = read_manifest(tmp_path / "run" / "manifest.json")
    source = manifest.sources["pico-101_attemptB_o"]
    assert list(manifest.editors) == ["nano-banana"]
    assert source["licence"] == "CC-BY-NC-ND-4.0"
    assert "https://farm8.staticflickr.com/2915/101_attemptB_o.jpg" in source["source"]
    assert manifest.pairs["pico"]["compared"] == "around"
    assert manifest.pairs["pico"]["instructions"] == [], "every session has its own"


def test_table_alone_finds_its_images_below_another_folder(tmp_path: Path) -> None:
    folder = sets.pico(tmp_path / "set")
    table = (folder / LIST).rename(tmp_path / "multi-turn.jsonl")
    _, _, found = read_chains(table, images=folder)
    assert len(found.chains) == 2
    assert not found.faults


def test_missing_files_are_named_chain_by_chain(tmp_path: Path) -> None:
    folder = sets.pico(tmp_path, {"1_a": 3, "2_a": 2, "3_a": 2})
    (folder / "images" / "multi-turn" / "1_a_turn2.png").unlink()
    (folder / "photographs" / "2_a_o.jpg").unlink()
    _, _, found = read_chains(folder)
    assert [chain.source.id for chain in found.chains] == ["pico-3_a_o"]
    first, second = found.faults
    assert first.startswith("multi-turn.jsonl, line 1, turn 2: no file images/multi-turn/1_a_turn2.png")
    assert "line 2, original_input_image https://farm8.staticflickr.com/2915/2_a_o.jpg: no file 2_a_o.jpg" in second


def test_photograph_that_a_mapping_tool_named_is_taken(tmp_path: Path) -> None:
    folder = sets.pico(tmp_path / "set", {"1_a": 2})
    (tmp_path / "downloaded").mkdir()
    photograph = (folder / "photographs" / "1_a_o.jpg").rename(tmp_path / "downloaded" / "0001eeaf4aed83f9.jpg")
    rewritten(folder, {**sets.pico_row("1_a", 2), "local_input_image": str(photograph)})
    _, _, found = read_chains(folder, images=photograph.parent)
    assert found.chains[0].source.picture.read() == photograph.read_bytes()
    _, _, found = read_chains(folder)
    assert not found.chains, "a set may not take just any file of this disk"
    assert "is outside the set; name its folder with --images" in found.faults[0]


def test_a_link_that_leads_out_is_not_found_by_its_name(tmp_path: Path) -> None:
    folder = sets.pico(tmp_path / "set", {"1_a": 2})
    elsewhere = (folder / "photographs" / "1_a_o.jpg").rename(tmp_path / "private.jpg")
    (folder / "photographs" / "1_a_o.jpg").symlink_to(elsewhere)
    _, _, found = read_chains(folder)
    assert not found.chains
    assert "no file 1_a_o.jpg" in found.faults[0]
    assert "1_a_o.jpg: a link that leads out of" in found.faults[1]


def test_two_files_of_one_name_are_not_guessed_between(tmp_path: Path) -> None:
    folder = sets.pico(tmp_path, {"1_a": 2})
    sets.save(folder / "more" / "1_a_o.jpg", sets.jpeg(sets.scene(7)))
    assert "could be" in read_chains(folder)[2].faults[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row["files"].pop(0), "3 prompts, but edit_turn2 and final_image; some turns are missing"),
        (lambda row: row["files"].pop(2), "no file with the id final_image"),
        (lambda row: row["metadata_edit_turn_prompts"].pop(), "2 prompts, but edit_turn1, edit_turn2 and final_image"),
        (lambda row: row.update(files="x"), "files should be a list"),
        (lambda row: row.update(metadata_edit_turn_prompts=[1]), "not a list of texts"),
    ],
)
def test_malformed_row_is_one_line(change: Any, message: str, tmp_path: Path) -> None:
    row = sets.pico_row("1_a", 3)
    change(row)
    _, _, found = read_chains(rewritten(sets.pico(tmp_path, {"1_a": 3}), row))
    assert not found.chains
    assert message in found.faults[0]
