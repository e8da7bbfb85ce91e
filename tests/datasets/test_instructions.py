"""What people's words ask for, as far as it can be checked; the rest is a change."""

from __future__ import annotations

import pytest

from convergebench.datasets.instructions import operation_of
from convergebench.edits.pairs import load_pairs
from convergebench.edits.variants import shipped_variants

EXACT = ("flip-horizontal", "flip-vertical", "rotate-90", "rotate-180", "rotate-270")


@pytest.mark.parametrize(
    ("words", "operation"),
    [
        ("Produce an exact replica of the provided image, with no alterations.", "replicate"),
        ("Copy this image.", "replicate"),
        ("Produce a copy of the image without any noise; remove all grain.", "denoise"),
        ("Remove the noise from the photo", "denoise"),
        ("Flip the image horizontally", "flip-horizontal"),
        ("horizontal_flip", "flip-horizontal"),
        ("Please turn the picture upside down", "rotate-180"),
        ("Rotate the image 90° anti-clockwise", "rotate-270"),
        ("Make the image black and white", "monochrome"),
        ("Colorize the photo", "colourise"),
        ("Add bench on the left of house", "add"),
        ("can you put a hat on the dog?", "add"),
        ("Add a dog. Keep everything else unchanged.", "add"),
        ("remove the man on the left", "remove"),
        ("Get rid of the text", "remove"),
    ],
)
def test_what_can_be_checked_is_told(words: str, operation: str) -> None:
    assert operation_of(words) == operation


@pytest.mark.parametrize(
    "words",
    [
        "Change the background to forest, remain the brown fur bear unchanged",
        "Let the man flip a burger",
        "turn the car 90 degrees",
        "Turn the picture into a painting",
        "Mirror the image in the lake",
        "What if the cat was black?",
        "Make it night",
        "There should be no chair on the left.",
        "",
    ],
)
def test_everything_else_is_a_change_and_nothing_is_guessed(words: str) -> None:
    assert operation_of(words) == "change"


def test_our_own_words_are_never_taken_for_something_else() -> None:
    asked = [(step.words, step.operation) for variant in shipped_variants() for step in variant.steps]
    for pair in load_pairs(["all"], wordings=4):
        assert pair.backward is not None
        assert pair.backward_operation is not None
        asked += [(pair.forward, pair.forward_operation), (pair.backward, pair.backward_operation)]
    for words, operation in asked:
        found = operation_of(words)
        assert found in (operation, "change") or operation == "change", words
        assert operation not in EXACT or found == operation, words
