"""How the studio reads an instruction: the step, what it is about, and what it refuses."""

from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.editors.instructions.vocabulary import COLOURS
from convergebench.editors.studio.task import StudioTask, read_studio_task
from convergebench.edits.taxonomy import taxonomy
from convergebench.errors import Refused
from tests.editors.studio.written import EXPECTED, every_sentence

SOME = (
    "replace the cup with a red dog into winter move it to left of sign text says “Sale” make her smile older zoom in"
)


@pytest.mark.parametrize(
    ("words", "task"),
    [
        ("Make the whole picture warmer.", StudioTask("tone", "warm")),
        ("Apply a cool blue tone to the image", StudioTask("tone", "cool")),
        ("Give the picture a warm tone, as if the cup stood in candle smoke.", StudioTask("tone", "warm", "cup")),
        ("Put a warm red scarf on her", StudioTask("add", thing="scarf", colour=COLOURS["red"])),
        ("Add film grain", StudioTask("film")),
        ("Zoom in on the dog", StudioTask("zoom", target="dog")),
        ("Extend the canvas to the left", StudioTask("extend", place="left")),
        ("Add a lamp beside the grey cat", StudioTask("add", thing="lamp")),
        ("Replace the cup with a blue vase", StudioTask("replace", target="cup", thing="vase", colour=COLOURS["blue"])),
        ("Remove the dog on the left", StudioTask("remove", target="dog", place="left")),
        ("Move it to the right", StudioTask("move", target="it", place="right")),
        ("Shift all colours to a cooler tone around the dog", StudioTask("tone", "cool", "dog")),
        ("Make the dog twice the size", StudioTask("reshape", "larger", "dog")),
        ("Change the colour of the orange cup to blue", StudioTask("recolour", target="cup", colour=COLOURS["blue"])),
        ("Change its colour from red to green", StudioTask("recolour", target="it", colour=COLOURS["green"])),
        ("Turn the photo with the cup into a watercolour with a red ball", StudioTask("style", "watercolour", "cup")),
        ("Turn her into an anime character", StudioTask("person", "anime")),
        ("Turn the street into anime", StudioTask("style", "anime")),
        ('Write "Sale" at the top', StudioTask("add-text", "printed", place="top", text="Sale")),
        ('Change the sign to read "Zimmer frei"', StudioTask("replace-text", text="Zimmer frei")),
        ("Translate the sign into German", StudioTask("translate", "german")),
        ("flip the image horizontally", StudioTask("turn", "flip-horizontal")),
    ],
)  # fmt: skip
def test_words_become_one_step(words: str, task: StudioTask) -> None:
    assert read_studio_task(words) == task


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("Tilt her head to the left", "pose"),
        ("Make the man look ten years older", "age or gender"),
        ("Make her laugh out loud", "expression"),
        ("Ponder the meaning of it all", "does not know how"),
        ("", "does not know how"),
    ],
)
def test_what_it_cannot_do_is_refused_with_the_reason(words: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        read_studio_task(words)


@pytest.mark.parametrize("edit_type", taxonomy())
def test_every_sentence_of_the_template_writer_is_read_as_its_type(edit_type: str) -> None:
    for words in every_sentence(edit_type):
        assert step_or_reason(words) == EXPECTED[edit_type], words


def step_or_reason(words: str) -> str:
    try:
        return read_studio_task(words).step
    except Refused as refusal:
        return refusal.reason


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200) | st.lists(st.sampled_from(SOME.split()), max_size=30).map(" ".join))
def test_any_text_is_one_step_or_one_refusal(text: str) -> None:
    assert step_or_reason(text)


@pytest.mark.parametrize("piece", ["turn ", "change the ", '"', "extend ", "her ", "replace ", "so that it says "])
def test_a_text_that_repeats_itself_takes_no_time(piece: str) -> None:
    begun = perf_counter()
    step_or_reason(piece * (2_000 // len(piece)))
    assert perf_counter() - begun < 2
