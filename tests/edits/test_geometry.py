"""Flips and turns are read out of plain English; everything else is none of them."""

from __future__ import annotations

import pytest

from convergebench.edits.geometry import geometry_of, plain_words


@pytest.mark.parametrize(
    ("instruction", "geometry"),
    [
        ("Flip the image horizontally (mirror).", "flip-horizontal"),
        ("Mirror the picture!", "flip-horizontal"),
        ("Show the mirrored picture", "flip-horizontal"),
        ("Make a mirror image of it", "flip-horizontal"),
        ("Flip it vertically", "flip-vertical"),
        ("Reflect the picture top to bottom", "flip-vertical"),
        ("Reflect the picture about the horizontal axis", "flip-vertical"),
        ("Flip it upside down", "flip-vertical"),
        ("Rotate the image 90° clockwise", "rotate-90"),
        ("Spin it a quarter to the right", "rotate-90"),
        ("Try rotating it by ninety degrees", "rotate-90"),
        ("Rotate the image 90 degrees counter-clockwise", "rotate-270"),
        ("Turn it a quarter to the left", "rotate-270"),
        ("turn it 90 degrees leftward", "rotate-270"),
        ("turn it 90 degrees anticlockwise", "rotate-270"),
        ("turn it 90 degrees anti-clockwise", "rotate-270"),
        ("turn it 270 degrees", "rotate-270"),
        ("turn it 270 degrees anticlockwise", "rotate-90"),
        ("turn it by three quarters", "rotate-270"),
        ("Rotate by 180 degrees", "rotate-180"),
        ("Rotate by 180 degrees counter-clockwise", "rotate-180"),
        ("Turn the picture upside down", "rotate-180"),
        ("Give it half a turn", "rotate-180"),
        ("Rotate the meeting to another day", None),
        ("Add a mirror to the wall", None),
        ("Add 90 apples in a quarter of the picture", None),
        ("", None),
    ],
)
def test_flips_and_turns_are_read(instruction: str, geometry: str | None) -> None:
    assert geometry_of(plain_words(instruction)) == geometry


def test_words_are_lower_case_without_signs() -> None:
    assert plain_words("  Take the hat OFF;\nher dog’s  ear, “90°”!") == "take off the hat her dog ear “90 degrees ”"
