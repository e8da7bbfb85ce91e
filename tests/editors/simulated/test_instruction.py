"""Words and what is understood by them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.editors.instructions.instruction import CHANGES, understand
from convergebench.editors.instructions.vocabulary import COLOURS, THING_WORDS
from convergebench.editors.simulated.objects.catalogue import THINGS
from convergebench.edits.geometry import GEOMETRY

OBJECTS = [word for words in THING_WORDS.values() for word in words if word not in ("clean-shaven", "clean shaven")]


def test_every_object_that_can_be_read_can_be_drawn() -> None:
    assert set(THING_WORDS) == set(THINGS)


def test_every_wording_of_every_shipped_pair_is_understood(pairs: Any) -> None:
    for pair in pairs:
        for wording in pair["wordings"]:
            for leg in ("forward", "backward"):
                action, wanted = understand(wording[leg]).action, pair[f"{leg}_operation"]
                if wanted == "change" or "main object" in wording[leg]:
                    assert action in (*CHANGES, "undo"), wording[leg]
                else:
                    assert action == wanted, wording[leg]


def test_both_legs_of_a_shipped_pair_are_about_the_same_thing(pairs: Any) -> None:
    for pair in pairs:
        for wording in pair["wordings"]:
            assert understand(wording["forward"]).thing == understand(wording["backward"]).thing, wording


@pytest.mark.parametrize(
    ("words", "action", "thing", "place"),
    [
        ("Add a wooden chair on the left side of the image", "add", "chair", "left"),
        ("Remove the wooden chair from the image", "remove", "chair", None),
        ("Add a red ball in the foreground", "add", "ball", "foreground"),
        ("Add a potted plant in the corner", "add", "plant", "corner"),
        ("Add an open book on the table", "add", "book", "table"),
        ("Remove the book from the table", "remove", "book", None),
        ("Add an open umbrella being held", "add", "umbrella", None),
        ("Add a wristwatch to the person's wrist", "add", "watch", None),
        ("Add a mustache to the person", "add", "moustache", None),
        ("Remove the vase with flowers from the image", "remove", "vase", None),
        ("add an orange", "add", "orange", None),
        ("add an orange ball", "add", "ball", None),
    ],
)
def test_things_and_places_are_read(words: str, action: str, thing: str, place: str | None) -> None:
    intent = understand(words)
    assert (intent.action, intent.thing) == (action, thing)
    if action == "add":
        assert intent.place == place


@pytest.mark.parametrize(
    ("words", "action"),
    [
        ("Flip the image horizontally (mirror)", "flip-horizontal"),
        ("Rotate the image 90 degrees counter-clockwise", "rotate-270"),
        ("turn it 270 degrees anticlockwise", "rotate-90"),
        ("Produce an exact replica of the provided image, with no alterations.", "replicate"),
        ("Produce an exact replica of the image and remove the noise.", "denoise"),
        ("Restore and enhance the image by removing noise, compression artifacts, and blur.", "enhance"),
        ("Make the hat a little smaller.", "unknown"),
        ("Rotate the meeting to another day", "unknown"),
        ("", "unknown"),
    ],
)
def test_other_actions_are_read(words: str, action: str) -> None:
    assert understand(words).action == action


def test_hex_colours_are_exact() -> None:
    assert understand("add a #FF6600 ball").colour == (255, 102, 0)


@given(word=st.sampled_from(OBJECTS), colour=st.sampled_from(sorted(COLOURS)), upper=st.booleans())
def test_any_thing_in_any_colour_is_added_and_removed(word: str, colour: str, upper: bool) -> None:
    for verb, action in (
        ("Add a", "add"),
        ("Remove the", "remove"),
        ("Put one", "add"),
        ("please erase the", "remove"),
    ):
        words = f"{verb} {colour} {word}"
        intent = understand(words.upper() if upper else words)
        assert intent.action == action
        assert intent.thing is not None
        assert word in THING_WORDS[intent.thing] or intent.thing in word
        assert intent.colour == COLOURS[colour]


@given(st.text(max_size=200))
def test_any_text_is_survived(words: str) -> None:
    intent = understand(words)
    assert intent.action in (*GEOMETRY, *CHANGES, "add", "remove", "replicate", "undo", "unknown")
    assert intent.thing is None or intent.thing in THINGS
