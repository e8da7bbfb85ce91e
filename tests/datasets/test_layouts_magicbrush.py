"""MagicBrush: people's wishes with people's targets, from the Hub's tables and from its authors' archive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convergebench.datasets.layouts import read_chains
from convergebench.datasets.recordings import prepare_recordings
from convergebench.errors import StudyError
from tests.datasets import sets
from tests.datasets.imported import import_set, measured


def archive(folder: Path, listed: str = "edit_sessions.json") -> Path:
    """The layout of the authors' own archives."""
    sessions: dict[str, list[dict[str, str]]] = {}
    for row in sets.magicbrush_rows():
        image, turn = row["img_id"], row["turn_index"]
        before = f"{image}-output{turn - 1}.png" if turn > 1 else f"{image}-input.png"
        entry = {"input": before, "mask": f"{image}-mask{turn}.png", "output": f"{image}-output{turn}.png"}
        sessions.setdefault(image, []).append({**entry, "instruction": row["instruction"]})
        sets.save(folder / "images" / image / before, row["source_img"]["bytes"])
        sets.save(folder / "images" / image / entry["output"], row["target_img"]["bytes"])
    content: Any = sessions if listed == "edit_sessions.json" else [one for turns in sessions.values() for one in turns]
    sets.save(folder / listed, json.dumps(content).encode())
    return folder


def test_turns_become_steps_and_what_lies_around_the_balls_is_untouched(tmp_path: Path) -> None:
    frames = import_set(sets.magicbrush(tmp_path / "set", shards=2), tmp_path / "run")
    steps = frames.steps().filter(frames.steps()["case"] == "magicbrush-10050/magicbrush/0")
    assert steps["instruction"].to_list() == [
        "",
        "put a ball number 1 on the grass",
        "put a ball number 2 on the grass",
    ]
    assert steps["editor"].unique().to_list() == ["recorded"]
    stored = [(tmp_path / "run" / file).read_bytes() for file in steps["image"]]
    rows = sets.magicbrush_rows()[:2]
    assert stored == [rows[0]["source_img"]["bytes"], *(row["target_img"]["bytes"] for row in rows)]
    values = measured(frames, "background-ssim", "happened", "changed-share")
    around = values.filter(values["metric"] == "background-ssim")["value"].to_list()
    assert len(around) == 4
    assert min(around) > 0.99
    happened = values.filter(values["metric"] == "happened")
    assert happened["role"].unique().to_list() == ["forward"]
    assert happened["value"].to_list() == pytest.approx([1.0] * 4, abs=0.05)


@pytest.mark.parametrize("listed", ["edit_sessions.json", "edit_turns.json"])
def test_the_archive_gives_the_same_chains_as_the_tables(listed: str, tmp_path: Path) -> None:
    _, _, ours = read_chains(archive(tmp_path / "archive", listed))
    _, _, theirs = read_chains(sets.magicbrush(tmp_path / "tables"))

    def content(found: Any) -> list[Any]:
        return [
            (chain.id, chain.source.picture.read(), [(step.instruction, step.picture.read()) for step in chain.steps])
            for chain in found.chains
        ]

    assert content(ours) == content(theirs)
    assert {chain.licence for chain in ours.chains} == {"CC-BY-4.0"}


def test_gap_in_the_turns_breaks_one_chain_and_no_other(tmp_path: Path) -> None:
    rows = [row for row in sets.magicbrush_rows(turns=3) if (row["img_id"], row["turn_index"]) != ("10050", 2)]
    _, _, found = read_chains(sets.magicbrush(tmp_path, rows))
    assert [chain.source.id for chain in found.chains] == ["magicbrush-10051"]
    assert found.faults == ("MagicBrush 10050: turns 1, 3 are there; a chain needs 1, 2, 3 … without a gap",)


def test_missing_column_is_named(tmp_path: Path) -> None:
    rows = [{name: value for name, value in row.items() if name != "target_img"} for row in sets.magicbrush_rows()]
    with pytest.raises(StudyError, match="has no column 'target_img'"):
        read_chains(sets.magicbrush(tmp_path, rows))


def test_damaged_and_empty_cells_are_one_line_each(tmp_path: Path) -> None:
    rows = sets.magicbrush_rows(images=(0, 1, 2))
    rows[1]["target_img"] = sets.cell(rows[1]["target_img"]["bytes"][:-40])
    rows[3]["target_img"] = None
    _, _, found = read_chains(sets.magicbrush(tmp_path, rows))
    prepared = prepare_recordings(found.chains)
    assert [chain.case.source_id for chain in prepared.chains] == ["magicbrush-10052"]
    first, second = prepared.left_out
    assert first.startswith("magicbrush-10050/magicbrush/0: ")
    assert "row 1, target_img is cut short" in first
    assert "row 3: target_img holds no image" in second


def test_archive_with_a_missing_file_or_another_order_is_told(tmp_path: Path) -> None:
    folder = archive(tmp_path)
    (folder / "images" / "10051" / "10051-output2.png").unlink()
    sessions = json.loads((folder / "edit_sessions.json").read_text())
    sessions["10050"][1]["input"] = "10050-input.png"
    (folder / "edit_sessions.json").write_text(json.dumps(sessions))
    _, _, found = read_chains(folder)
    assert not found.chains
    assert "turn 2 starts from 10050-input.png, not from 10050-output1.png" in found.faults[0]
    assert "no file" in found.faults[1]


def test_the_name_of_a_session_cannot_lead_out_of_the_images(tmp_path: Path) -> None:
    folder = archive(tmp_path / "set")
    for name in ("x-input.png", "x-output1.png"):
        sets.save(tmp_path / "private" / name, sets.png(sets.scene()))
    turn = {"input": "x-input.png", "output": "x-output1.png", "instruction": "look"}
    sessions = json.loads((folder / "edit_sessions.json").read_text())
    (folder / "edit_sessions.json").write_text(json.dumps({**sessions, "../../private": [turn]}))
    _, _, found = read_chains(folder)
    assert len(found.chains) == 2
    assert "is outside" in found.faults[0]
