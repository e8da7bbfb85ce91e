from __future__ import annotations

from itertools import combinations

import cv2
import numpy as np
import pytest

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics.semantic.gist import descriptor
from tests.metrics.pictures import box_blur, jpeg, measured, noisy, photograph, tinted, with_disc

NAMES = ("astronaut", "coffee", "chelsea", "rocket", "immunohistochemistry")


@pytest.mark.parametrize("name", NAMES)
def test_an_image_is_itself(name: str) -> None:
    assert measured("gist", photograph(name).copy(), photograph(name)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_mild_damage_leaves_the_scene(name: str) -> None:
    picture = photograph(name, 400, 300)
    for damaged in (jpeg(picture, 20), noisy(picture, 15), box_blur(picture, 5), tinted(picture, 8, 8, 8)):
        assert measured("gist", damaged, picture) > 0.95


def test_it_forgives_fading_blur_and_noise_as_its_description_says() -> None:
    picture = photograph("astronaut", 512, 512)
    faded = np.round(128 + (picture.astype(np.float64) - 128) / 2).astype(np.uint8)
    assert measured("gist", faded, picture) == pytest.approx(0.96, abs=0.01)
    assert measured("gist", cv2.GaussianBlur(picture, (0, 0), 8).astype(np.uint8), picture) > 0.98
    assert measured("gist", noisy(picture, 80), picture) > 0.98


def test_different_photographs_are_far_apart() -> None:
    values = [measured("gist", photograph(a, 400, 300), photograph(b, 400, 300)) for a, b in combinations(NAMES, 2)]
    assert max(values) < 0.6
    assert abs(float(np.median(values))) < 0.4


def test_more_damage_is_less_alike_and_an_object_costs_more_than_noise() -> None:
    picture = photograph("coffee", 400, 300)
    blurred = [measured("gist", box_blur(picture, side), picture) for side in (3, 15, 61)]
    assert blurred == sorted(blurred, reverse=True)
    assert measured("gist", with_disc(picture), picture) < measured("gist", noisy(picture, 10), picture)


def test_order_does_not_matter_and_sizes_need_not_be_equal() -> None:
    picture = photograph("chelsea", 400, 300)
    half = np.ascontiguousarray(box_blur(picture, 3)[::2, ::2])
    assert measured("gist", half, picture) == measured("gist", picture, half)
    assert measured("gist", half, picture) > 0.99


def test_one_even_grey_has_no_layout() -> None:
    with pytest.raises(Unmeasurable) as caught:
        measured("gist", np.full((64, 64, 3), 128, np.uint8), photograph("coffee"))
    assert caught.value.status == "featureless"
    with pytest.raises(Unmeasurable):
        measured("gist", photograph("coffee"), None)


def test_the_descriptor_is_a_unit_vector() -> None:
    assert np.linalg.norm(descriptor(Frame(photograph("coffee")))) == pytest.approx(1)
