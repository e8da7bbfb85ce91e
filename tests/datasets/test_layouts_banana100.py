"""Folders of pictures whose names end in the step, with or without a table, and what models thought beside them."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from convergebench.datasets.layouts import read_chains
from convergebench.datasets.layouts.banana100 import card_licence
from convergebench.datasets.recordings import ImportChoices, prepare_recordings
from convergebench.errors import StudyError
from convergebench.store.manifest import read_manifest
from tests.datasets import sets
from tests.datasets.imported import import_set, measured


def rmse(one: Any, other: Any) -> float:
    return float(np.sqrt(np.mean((one.astype(float) - other.astype(float)) ** 2)) / 255)


def test_folders_tell_image_variant_and_run_and_copies_are_compared_whole(tmp_path: Path) -> None:
    frames = import_set(sets.copies(tmp_path / "set", images=("rice", "holi")), tmp_path / "run")
    assert frames.chains().select("case", "pair", "category", "replicate").rows() == [
        (f"{image}/replicate/{run}", "replicate", "replication", run) for image in ("holi", "rice") for run in (0, 1)
    ]
    steps = frames.steps().filter(pl.col("case") == "rice/replicate/1")
    assert steps["instruction"].to_list() == ["", sets.COPY, sets.COPY, sets.COPY], "the words of our variant"
    values = measured(frames, "rmse", "psnr", "ssim")
    source = sets.scene(0)
    for step in (1, 2, 3):
        rows = values.filter(pl.col("case") == "rice/replicate/1", pl.col("step") == step)
        facts = dict(rows.filter(pl.col("role") == "return").select("metric", "value").rows())
        assert facts["rmse"] == pytest.approx(rmse(sets.worn(source, step + 1), source), abs=1e-6)
        assert facts["psnr"] == pytest.approx(-20 * np.log10(facts["rmse"]), abs=1e-4)
    third = values.filter(pl.col("case") == "rice/replicate/1", pl.col("step") == 3)
    lagged = dict(third.filter(pl.col("role") == "lag").select("metric", "value").rows())
    assert lagged["rmse-lag2"] == pytest.approx(rmse(sets.worn(source, 4), sets.worn(source, 2)), abs=1e-6)
    assert "ssim-first" in third["metric"].to_list()


def test_summaries_beside_the_pictures_are_kept(tmp_path: Path) -> None:
    folder = sets.copies(tmp_path / "set")
    home = folder / "rice" / "replicate" / "run-0"
    sets.save(home / "step-001.txt", b"**Copying**\nI copy every grain.")
    facts = {"prompt": sets.COPY, "reasoning_summary": "Looks noisy.", "seed": 7, "cost": 0.134, "model": "nb-pro"}
    sets.save(home / "step-002.json", json.dumps(facts).encode())
    for step in (1, 3):
        sets.save(home / f"step-00{step}.json", json.dumps({"prompt": sets.COPY}).encode())
    (home / "step-001.json").write_text(json.dumps({"prompt": sets.COPY, "reasoning": "I copy every grain."}))
    frames = import_set(folder, tmp_path / "run")
    steps = frames.steps().filter(pl.col("case") == "rice/replicate/0")
    assert steps["reasoning"].to_list() == [None, "I copy every grain.", "Looks noisy.", None]
    assert steps["model"][2] == "nb-pro"
    assert steps["dollars"][2] == 0.134
    assert json.loads(steps["used"][2])["seed"] == 7
    text = sets.copies(tmp_path / "text")
    sets.save(text / "rice" / "replicate" / "run-1" / "step-003.txt", b"Done.")
    _, _, found = read_chains(text)
    assert found.chains[1].steps[2].reasoning == "Done."


def test_more_models_are_editors_and_one_chat_is_a_variant_of_its_own(tmp_path: Path) -> None:
    home = tmp_path / "set" / "more_models"
    sets.save(home / "table.png", sets.png(sets.scene()))
    for model in ("gpt-image", "qwen"):
        for chat in ("same_chat", "different_chat"):
            for step in range(1, 4):
                ball = sets.with_ball(sets.scene(), 10 * step)
                sets.save(home / model / chat / f"{step:02}.png", sets.png(ball))
    _, _, found = read_chains(tmp_path / "set")
    assert {(chain.editor, chain.source.id, chain.variant) for chain in found.chains} == {
        (model, "table", variant)
        for model in ("gpt-image", "qwen")
        for variant in ("recorded", "recorded-single-session")
    }
    assert {chain.steps[0].used["session"] for chain in found.chains} == {"single", "fresh"}
    with pytest.raises(StudyError, match=r"has no instructions; .*--variant"):
        prepare_recordings(found.chains)
    prepared = prepare_recordings(found.chains, ImportChoices(variant="add-apples"))
    assert {chain.case.category for chain in prepared.chains} == {"addition"}


def test_a_table_tells_what_names_do_not(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    rows = []
    for number in range(4):
        name = f"{number:05}.png"
        sets.save(folder / name, sets.png(np.fliplr(sets.scene()) if number % 2 else sets.scene()))
        rows.append({"file_name": name, "image": "rice", "variant": "turns", "run": 3, "step": number})
        rows[-1] |= {"prompt": "Mirror the image.", "reasoning": "", "model": "m-1", "resolution": "2K"}
    with (folder / "metadata.csv").open("w", newline="") as stream:
        sheet = csv.DictWriter(stream, rows[0])
        sheet.writeheader()
        sheet.writerows(rows)
    frames = import_set(folder, tmp_path / "run")
    assert frames.chains().select("editor", "case", "replicate").rows() == [("m-1", "rice/turns/3", 3)]
    values = measured(frames, "rmse", "happened")
    assert values.filter(pl.col("metric") == "rmse")["value"].to_list() == [0.0, 0.0, 0.0], "turned as it was asked"
    assert values.filter(pl.col("metric") == "happened")["value"].to_list() == pytest.approx([1.0] * 3)
    assert json.loads(frames.steps()["settings"][1])["resolution"] == "2K"


def test_untouched_picture_is_found_by_name_further_up_or_missed(tmp_path: Path) -> None:
    folder = sets.copies(tmp_path / "set", images=("rice", "holi"))
    for number, image in enumerate(("rice", "holi")):
        sets.save(folder / f"{image}.png", sets.png(sets.scene(number)))
        for run in (0, 1):
            (folder / image / "replicate" / f"run-{run}" / "step-000.png").unlink()
    _, _, found = read_chains(folder)
    sources = {chain.source.id: chain.source.picture.where for chain in found.chains}
    assert sources == {image: str(folder / f"{image}.png") for image in ("rice", "holi")}
    (folder / "rice.png").rename(folder / "start.png")
    assert "2 pictures could be the untouched image; name it rice.png" in read_chains(folder)[2].faults[0]
    (folder / "holi.png").unlink()
    (folder / "start.png").unlink()
    assert "no untouched image of 'holi'" in read_chains(folder)[2].faults[0]


def test_gaps_repeats_and_damaged_pictures_are_one_line_each(tmp_path: Path) -> None:
    folder = sets.copies(tmp_path, images=("a", "b", "c", "d"))
    home = {image: folder / image / "replicate" / "run-0" for image in "abcd"}
    (home["a"] / "step-002.png").unlink()
    sets.save(home["b"] / "step-003.jpg", sets.jpeg(sets.scene()))
    sets.save(home["c"] / "step-003.png", b"not an image")
    sets.save(home["d"] / "step-003.png", (home["d"] / "step-002.png").read_bytes()[:200])
    _, _, found = read_chains(folder)
    prepared = prepare_recordings(found.chains, faults=found.faults)
    assert len(prepared.chains) == 4, "the other run of each image"
    gap, twice, strange, short = prepared.left_out
    assert gap == "chain 'a/replicate/0' has step 3 but no step 2; add it or remove the later ones"
    assert "chain 'b/replicate/0' has step 3 twice" in twice
    assert "step-003.png is not a readable image (12 bytes" in strange
    assert "step-003.png is cut short" in short


def test_a_card_gives_the_licence_and_without_one_it_is_unstated(tmp_path: Path) -> None:
    folder = sets.copies(tmp_path / "set")
    assert card_licence(folder) == "unstated"
    sets.save(folder / "README.md", b"---\nlicense: cc-by-nc-sa-4.0\ntags: [x]\n---\n# Banana100\n")
    import_set(folder, tmp_path / "run")
    assert read_manifest(tmp_path / "run" / "manifest.json").sources["rice"]["licence"] == "cc-by-nc-sa-4.0"


def test_numbers_of_more_than_four_digits_are_no_steps(tmp_path: Path) -> None:
    for number in (100547, 100548):
        sets.save(tmp_path / f"{number}.png", sets.png(sets.scene()))
    with pytest.raises(StudyError, match="no recorded chain"):
        read_chains(tmp_path)


def listed(
    folder: Path, *, image: str = "a", steps: int = 3, change: Mapping[int, Mapping[str, Any]] | None = None
) -> None:
    """One more chain in the set's table, some of its rows changed."""
    rows = []
    for step in range(steps):
        name = f"{image}/{step:03}.png"
        sets.save(folder / name, sets.png(sets.worn(sets.scene(), step)))
        facts = {"file_name": name, "step": step, "image": image, "variant": "copy", "run": 0, "model": "m"}
        rows.append({**facts, "prompt": sets.COPY, **(change or {}).get(step, {})})
    with (folder / "metadata.jsonl").open("a") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": "nan"}, "line 5: step is not a finite number: nan"),
        ({"step": float("inf")}, "line 5: step is not a finite number: inf"),
        ({"step": "one"}, "line 5: step is not a number: 'one'"),
        ({"step": 10**400}, "line 5: step is not a number"),
        ({"run": "inf"}, "run is not a finite number: inf"),
        ({"round": "x"}, "line 5: round is not a number: 'x'"),
        ({"cost": float("inf")}, "line 5: cost is not a finite number: inf"),
        ({"cost": -5}, "line 5: cost is below zero: -5.0"),
        ({"prompt": "half \ud800"}, r"line 5: prompt holds half a character ('\ud800')"),
        ({"reasoning": "half \ud800"}, "line 5: reasoning holds half a character"),
        ({"model": "half \ud800"}, "editor holds half a character"),
        ({"used": '{"note": "half \\ud800"}'}, "line 5: used holds half a character"),
        ({"file_name": "/elsewhere/x.png"}, "line 5: '/elsewhere/x.png' is outside"),
        ({"file_name": ""}, "line 5: no file is named"),
    ],
)
def test_a_wrong_value_breaks_its_own_chain_and_no_other(
    change: Mapping[str, Any], message: str, tmp_path: Path
) -> None:
    listed(tmp_path, image="whole")
    listed(tmp_path, image="broken", change={1: change})
    _, _, found = read_chains(tmp_path)
    assert [chain.source.id for chain in found.chains] == ["whole"]
    assert any(message in fault for fault in found.faults), found.faults
    assert not any("\n" in fault for fault in found.faults)


def test_a_last_step_that_cannot_be_placed_does_not_just_shorten_a_chain(tmp_path: Path) -> None:
    listed(tmp_path, image="whole")
    listed(tmp_path, image="broken", change={2: {"run": "last"}})
    _, _, found = read_chains(tmp_path)
    assert [chain.source.id for chain in found.chains] == ["whole"]
    assert "chain 'broken/copy/0' may lack a step" in found.faults[0]
    assert "line 6: run is not a number: 'last'" in found.faults[0]


def test_links_that_lead_out_of_the_set_are_refused_and_those_inside_are_not(tmp_path: Path) -> None:
    secret = sets.save(tmp_path / "private" / "key.txt", b"do not publish")
    picture = sets.save(tmp_path / "private" / "me.png", sets.png(sets.scene(3)))
    folder = tmp_path / "set"
    for image in ("inside", "picture", "words"):
        listed(folder, image=image)
    (folder / "inside" / "001.png").rename(folder / "inside" / "moved.png")
    (folder / "inside" / "001.png").symlink_to(folder / "inside" / "moved.png")
    (folder / "picture" / "001.png").unlink()
    (folder / "picture" / "001.png").symlink_to(picture)
    (folder / "words" / "001.txt").symlink_to(secret)
    _, _, found = read_chains(folder)
    assert [chain.source.id for chain in found.chains] == ["inside"]
    assert "'picture/001.png' is a link that leads out of" in found.faults[0]
    assert "001.txt is a link that leads out of" in found.faults[1]
    assert "and 1 more: a link that leads out of" in found.faults[2]


def test_last_step_that_is_a_link_out_of_the_set_does_not_just_shorten_a_chain(tmp_path: Path) -> None:
    folder = sets.copies(tmp_path / "set")
    last = folder / "rice" / "replicate" / "run-0" / "step-003.png"
    last.symlink_to(last.rename(tmp_path / "private.png"))
    _, _, found = read_chains(folder)
    assert "step-003.png: a link that leads out of" in found.faults[0]
