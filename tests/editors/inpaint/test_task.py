"""Words and what `inpaint` makes of them."""

from __future__ import annotations

import pytest

from convergebench.editors.inpaint.task import EditTask, read_task
from convergebench.editors.instructions.vocabulary import COLOURS
from convergebench.edits.geometry import GEOMETRY
from convergebench.edits.pairs import load_pairs
from convergebench.errors import Refused


@pytest.mark.parametrize("pair", load_pairs(["v1"], wordings=4), ids=lambda pair: pair.label)
def test_every_wording_of_the_v1_pairs_is_read_in_both_directions(pair: object) -> None:
    for words, operation in ((pair.forward, pair.forward_operation), (pair.backward, pair.backward_operation)):  # type: ignore[attr-defined]
        task = read_task(words)
        if operation in GEOMETRY:
            assert (task.step, task.turn) == ("turn", operation), words
        else:
            assert task.step == operation, words
            assert task.thing in ("glasses", "hat", "earrings", "chair", "ball"), words


@pytest.mark.parametrize(
    ("words", "task"),
    [
        ("add a chair on the left", EditTask("add", "chair", None, "left")),
        ("Place a red ball in the foreground.", EditTask("add", "ball", COLOURS["red"], "foreground")),
        ("take the hat off", EditTask("remove", "hat")),
        ("Replace the chair with a potted plant.", EditTask("replace", "plant", old="chair")),
        ("replace the red ball by a blue ball", EditTask("replace", "ball", COLOURS["blue"], old="ball")),
        ("turn the cup into a vase", EditTask("replace", "vase", old="cup")),
        ("make the chair green", EditTask("recolour", "chair", COLOURS["green"])),
        ("dye her hair purple", EditTask("recolour", "", COLOURS["purple"], part="hair")),
        ("an exact copy, please: no alterations", EditTask("copy")),
    ],
)
def test_the_step_the_object_the_colour_and_the_place_are_read(words: str, task: EditTask) -> None:
    read = read_task(words)
    assert (read.step, read.thing, read.colour, read.place, read.part, read.old) == (
        task.step,
        task.thing,
        task.colour,
        task.place,
        task.part,
        task.old,
    )


@pytest.mark.parametrize(
    "words", ["make it look like a Van Gogh", "the person smiles", "ponder the meaning of it all", ""]
)
def test_anything_else_is_refused_in_one_line_that_quotes_it(words: str) -> None:
    with pytest.raises(Refused) as caught:
        read_task(words)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.reason == "not-understood"
