"""Pico-Banana's single edits: `sft.jsonl` and `preference.jsonl`; photographs from Open Images, dead links and all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.conductor.importing import ImportOptions, import_chains
from convergebench.datasets.layouts import read_chains
from convergebench.edits.taxonomy import taxonomy
from convergebench.errors import StudyError
from tests.datasets import sets
from tests.datasets.imported import import_set

REMOVE = taxonomy()["remove-object"].name


def row(number: int, rejected: int = 0) -> dict[str, Any]:
    """A row of `sft.jsonl`, or of `preference.jsonl` with so many rejected pictures."""
    named = [f"images/negative-edit/{number}_attempt{at}.png" for at in range(1, rejected + 1)]
    return {
        "open_image_input_url": f"https://farm1.staticflickr.com/1/{number}_abc_o.jpg",
        "text": f"Remove the cup at the left, number {number}.",
        "output_image": f"images/positive-edit/{number}.png",
        **({"rejected_images": named} if rejected else {}),
        "edit_type": REMOVE,
        "summarized_text": "remove the cup",
    }


def published(folder: Path, *, photographs: bool = True) -> Path:
    """Two examples, and a preference row with two rejected pictures."""
    sft, preference = [row(1), row(2)], [row(3, rejected=2)]
    for name, rows in (("sft", sft), ("preference", preference)):
        sets.save(folder / "jsonl" / f"{name}.jsonl", "".join(json.dumps(one) + "\n" for one in rows).encode())
    for number in (1, 2, 3):
        sets.save(folder / "images" / "positive-edit" / f"{number}.png", sets.png(sets.worn(sets.scene(number), 1)))
        if photographs:
            sets.save(folder / "photographs" / f"{number}_abc_o.jpg", sets.jpeg(sets.scene(number)))
    for at in (1, 2):
        sets.save(
            folder / "images" / "negative-edit" / f"3_attempt{at}.png", sets.png(sets.worn(sets.scene(3), 2 + at))
        )
    return folder


def test_rejected_pictures_are_chains_of_their_own(tmp_path: Path) -> None:
    frames = import_set(published(tmp_path / "set"), tmp_path / "run")
    chains = frames.steps().filter(pl.col("index") == 1)
    assert chains["pair"].value_counts().sort("pair").rows() == [
        ("pico-chosen", 1),
        ("pico-rejected", 2),
        ("pico-sft", 2),
    ]
    rejected = chains.filter(pl.col("pair") == "pico-rejected")
    assert set(rejected["instruction"]) == {"Remove the cup at the left, number 3."}
    assert {json.loads(used)["judged"] for used in rejected["used"]} == {"rejected"}
    assert {json.loads(used)["summarized_text"] for used in chains["used"]} == {"remove the cup"}
    assert set(rejected["source"]) == {"pico-3_abc_o"}, "of the same photograph as the chosen one"


def test_the_edit_type_says_what_should_have_happened(tmp_path: Path) -> None:
    _, _, found = read_chains(published(tmp_path))
    assert {step.operation for chain in found.chains for step in chain.steps} == {"remove"}


def test_photographs_are_found_by_their_open_images_id(tmp_path: Path) -> None:
    folder = published(tmp_path / "set", photographs=False)
    photographs = tmp_path / "open-images"
    listed = ["ImageID,Subset,OriginalURL,Rotation"]
    for number in (1, 2, 3):
        sets.save(photographs / "train" / f"000{number}eeaf.jpg", sets.jpeg(sets.scene(number)))
        # the list has http where the rows have https
        listed.append(f"000{number}eeaf,train,http://farm1.staticflickr.com/1/{number}_abc_o.jpg,0.0")
    (photographs / "train-images-boxable-with-rotation.csv").write_text("\n".join(listed) + "\n")
    _, _, found = read_chains(folder, images=photographs)
    assert not found.faults
    assert len(found.chains) == 5
    (second,) = [chain for chain in found.chains if chain.id.endswith("pico-sft-2/0")]
    assert second.source.picture.read() == (photographs / "train" / "0002eeaf.jpg").read_bytes()


def test_a_dead_link_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    folder = published(tmp_path / "set")
    (folder / "photographs" / "1_abc_o.jpg").unlink()
    (folder / "images" / "negative-edit" / "3_attempt1.png").unlink()
    with pytest.raises(StudyError, match="--skip-broken"):
        import_chains(folder, tmp_path / "run")
    done = import_chains(folder, tmp_path / "run", ImportOptions(skip_broken=True))
    assert done.chains == 3
    photograph, rejected = done.left_out
    assert "sft.jsonl, line 1, open_image_input_url https://farm1.staticflickr.com/1/1_abc_o.jpg: no file" in photograph
    assert "preference.jsonl, line 1, images/negative-edit/3_attempt1.png: no file" in rejected
    assert (tmp_path / "run" / "left-out.txt").read_text().count("\n") == 2


def test_an_edit_in_both_files_is_read_once(tmp_path: Path) -> None:
    folder = published(tmp_path)
    both = [row(1), row(2), {**row(3)}]
    sets.save(folder / "jsonl" / "sft.jsonl", "".join(json.dumps(one) + "\n" for one in both).encode())
    _, _, found = read_chains(folder)
    assert sorted(chain.variant for chain in found.chains) == ["pico-rejected"] * 2 + ["pico-sft"] * 3
    assert found.notes == ("1 rows repeat an edit that was already read",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rejected_images": [1]}, "not a list of texts"),
        ({"output_image": "../../etc/hosts.png"}, "is outside"),
        ({"open_image_input_url": "https://x.org/none.jpg"}, "no file none.jpg; put it below the folder of --images"),
    ],
)
def test_a_malformed_row_is_one_line(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    folder = published(tmp_path)
    rows = [{**row(3, rejected=2), **change}]
    sets.save(folder / "jsonl" / "preference.jsonl", "".join(json.dumps(one) + "\n" for one in rows).encode())
    _, _, found = read_chains(folder)
    assert message in found.faults[0]
    assert sum(chain.variant == "pico-sft" for chain in found.chains) == 2
