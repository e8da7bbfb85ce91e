"""Masks of objects and persons on real photographs."""

from __future__ import annotations

import numpy as np
import pytest

from convergebench.errors import StudyError
from convergebench.vision.masks import _parts_in, object_mask, person_mask
from convergebench.vision.networks import Mask, Picture
from convergebench.vision.objects import PixelBox

CUP = PixelBox(168, 16, 416, 272)


@pytest.fixture(scope="module")
def cup(coffee: Picture) -> Mask:
    return object_mask(coffee, CUP)


def test_a_cup_is_cut_out_of_the_table(cup: Mask) -> None:
    assert cup.shape == (400, 600)
    assert cup.dtype == np.bool_
    assert cup[60:200, 220:380].mean() > 0.99  # the coffee and the cup
    assert not cup[:, :100].any()  # the table beside it
    assert not cup[:, 500:].any()


def test_the_same_picture_gives_the_same_mask(coffee: Picture, cup: Mask) -> None:
    np.testing.assert_array_equal(object_mask(coffee, CUP), cup)


def test_parts_that_are_mostly_outside_belong_to_something_else() -> None:
    mask = np.zeros((20, 40), np.bool_)
    mask[5:15, 8:20] = True  # sticks out of the box to the left a little
    mask[2:18, 24:38] = True  # a neighbour that reaches into it
    found = _parts_in(mask, PixelBox(10, 0, 26, 20))
    np.testing.assert_array_equal(found[:, :22], mask[:, :22])
    assert not found[:, 22:].any()


@pytest.mark.parametrize(
    "box", [PixelBox(0, 0, 601, 10), PixelBox(-1, 0, 10, 10), PixelBox(10, 10, 10, 20), PixelBox(0, 0, 10, 401)]
)
def test_a_box_beyond_the_picture_is_refused(coffee: Picture, box: PixelBox) -> None:
    with pytest.raises(StudyError, match="is not inside a picture of 600 × 400 pixels"):
        object_mask(coffee, box)


def test_a_person_is_told_from_what_is_behind_her(astronaut: Picture) -> None:
    found = person_mask(astronaut)
    assert found.shape == (512, 512)
    assert found[80:170, 195:255].mean() > 0.99  # her face
    assert found[300:450, 100:250].mean() > 0.99  # her suit
    assert found[20:200, 320:].mean() < 0.01  # the rocket
    assert found[:150, :80].mean() < 0.01  # the flag


def test_a_mask_has_the_proportions_of_the_picture(astronaut: Picture) -> None:
    wide = np.concatenate([np.zeros_like(astronaut), astronaut], 1)
    found = person_mask(wide)
    assert found.shape == (512, 1024)
    assert found[80:170, 512 + 195 : 512 + 255].mean() > 0.95
    assert found[:, :400].mean() < 0.05
