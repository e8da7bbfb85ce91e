"""What is read from an instruction: a side, a direction; and when nothing is."""

from __future__ import annotations

import pytest

from convergebench.roles.edit_judge.wording import asked_direction, asked_place, mentions


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("Add a vase on the left.", (-1, 0)),
        ("Add a vase in the upper right corner.", (1, -1)),
        ("Put a $thing to the right side of the scene.", (1, 0)),
        ("Write OPEN at the bottom of the picture.", (0, 1)),
        ("Add a chair to the left of the table.", (0, 0)),
        ("Add a cup on the right side of the table.", (0, 0)),
        ("Put a cat right behind the dog that was left alone.", (0, 0)),
        ("Swap the vase on the left with the one on the right.", (0, 0)),
        ("Put a hat on top of the box.", (0, 0)),
    ],
)
def test_a_side_of_the_picture_is_read_and_a_side_of_things_is_not(words: str, place: tuple[int, int]) -> None:
    assert asked_place(words) == place


def test_directions_are_read_and_opposite_ones_cancel() -> None:
    assert asked_direction("Make it a warm, golden evening") == {"b": 1}
    assert asked_direction("a cold night") == {"b": -1, "lightness": -1}
    assert asked_direction("from warm to cool") == {}
    assert asked_direction("Add an orange cup beside the blue vase") == {}


def test_words_are_told_by_their_beginnings() -> None:
    assert mentions("make it Foggy", "fog")
    assert not mentions("a defogged mirror", "fog")
