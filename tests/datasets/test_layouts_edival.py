"""EdiVal: wishes as Python lists in a CSV, photographs in a ZIP, a folder of passes per model."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from convergebench.datasets.layouts import read_chains
from convergebench.errors import StudyError
from tests.datasets import sets
from tests.datasets.imported import import_set, measured

PASSES = Path("baseline_generations") / "flux" / "multipass"


def test_longest_row_gives_the_wishes_and_the_task_what_is_checked(tmp_path: Path) -> None:
    frames = import_set(sets.edival(tmp_path / "set"), tmp_path / "run")
    steps = frames.steps().filter(pl.col("editor") == "qwen", pl.col("source") == "edival-0", pl.col("index") > 0)
    assert steps["instruction"].to_list() == [
        "Add bench on the left of house",
        "Change the count of bench to 4",
        "Remove the text 'LAMB'",
    ]
    rows = frames._connection.execute(
        "select step, operation from comparisons where role = 'forward' and editor = 'qwen' and \"case\" like ? "
        "order by step",
        ("edival-0%",),
    ).fetchall()
    assert rows == [(1, "add"), (2, "change"), (3, "remove")]
    source = frames.steps().filter(pl.col("editor") == "qwen", pl.col("index") == 0)["image"][0]
    assert (tmp_path / "run" / source).read_bytes() == sets.jpeg(sets.scene(0), 95), "the archive's, not a model's copy"
    assert measured(frames, "background-ssim")["value"].null_count() == 0


def test_a_wish_to_keep_the_rest_unchanged_is_no_wish_for_a_copy(tmp_path: Path) -> None:
    frames = import_set(sets.edival(tmp_path / "set", ("flux",)), tmp_path / "run")
    roles = frames._connection.execute("select role from comparisons where \"case\" like 'edival-1%'").fetchall()
    assert sorted(role for (role,) in roles) == ["around", "forward", "source", "step"]


def test_photographs_may_lie_elsewhere_and_a_models_copy_is_the_last_resort(tmp_path: Path) -> None:
    folder = sets.edival(tmp_path / "set", ("flux",))
    (folder / "input_images_resize_512.zip").rename(tmp_path / "input_images_resize_512.zip")
    _, _, found = read_chains(folder)
    assert found.chains[0].source.picture.where.endswith("multipass/0_input_raw.png")
    _, _, found = read_chains(folder, images=tmp_path)
    assert found.chains[0].source.picture.read() == sets.jpeg(sets.scene(0), 95)
    (folder / PASSES / "0_input_raw.png").unlink()
    _, _, found = read_chains(folder)
    assert "EdiVal 0: no photograph 0_input_raw" in found.faults[0]


def test_missing_turns_are_told(tmp_path: Path) -> None:
    folder = sets.edival(tmp_path / "set")
    (folder / PASSES / "0_input_raw_turn_2.png").unlink()
    (folder / PASSES / "1_input_raw_turn_1.png").unlink()
    _, _, found = read_chains(folder)
    assert found.faults == ("EdiVal 0, flux: turns 1, 3 are there; a chain needs 1, 2, 3 without a gap",)
    assert found.notes == ("flux has no result for 1 of the 2 photographs with instructions",)
    (folder / PASSES / "0_input_raw_turn_3.png").unlink()
    _, _, found = read_chains(folder)
    assert found.chains[0].unanswered == ("Change the count of bench to 4", "Remove the text 'LAMB'")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("task_type", "kind_of_task", "no column 'task_type'"),
        ("0,2,", "0,3,", "line 3: 3 turns, but 2 instructions"),
        ("1,1,", "one,1,", "whole numbers"),
        ("['Remove", "Remove", "instructions is not a list"),
    ],
)
def test_broken_tables_are_one_line(before: str, after: str, message: str, tmp_path: Path) -> None:
    table = sets.edival_table({**sets.EDIVAL, 2: [("subject_remove", "Remove the house")]})
    assert before in table
    with pytest.raises(StudyError, match=message) as error:
        read_chains(sets.edival(tmp_path, table=table.replace(before, after)))
    assert "\n" not in str(error.value)


def test_table_without_pictures_says_where_they_should_be(tmp_path: Path) -> None:
    sets.save(tmp_path / "wishes.csv", sets.edival_table().encode())
    with pytest.raises(StudyError, match="put baseline_generations/MODEL/multipass below it"):
        read_chains(tmp_path)
