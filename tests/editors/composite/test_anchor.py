"""anchor: the answer with the input's colours, and the edit with its own."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.editors.composite.anchor import anchor
from convergebench.editors.find import make_editor
from convergebench.errors import StudyError
from tests.editors.composite.scripted import Scripted, call, disc, painted, picture, pixels, same, with_disc


@given(
    shift=st.lists(st.floats(-2, 2), min_size=3, max_size=3),
    gain=st.floats(0.97, 1.03),
    seed=st.integers(0, 10),
)
@settings(max_examples=15, deadline=None)
def test_a_cast_is_taken_off_and_the_object_keeps_its_colour(shift: list[float], gain: float, seed: int) -> None:
    image = picture(seed)
    inner = Scripted(painted(lambda before: 128 + gain * (with_disc(before).astype(float) - 128) + np.array(shift)))
    done = call(anchor("x", of=inner), image)
    assert "left_alone" not in done.used
    result = pixels(done.image).astype(float)
    outside = cv2.dilate(disc().astype(np.uint8), np.ones((5, 5), np.uint8)) == 0
    assert np.abs(result - image)[outside].mean() < 1.0
    assert np.abs(result[disc()].mean(axis=0) - (230, 30, 30)).max() < 12


def test_a_slow_gradient_of_light_is_taken_off() -> None:
    image = picture()
    inner = Scripted(painted(lambda before: before + np.linspace(-4, 4, 96)[None, :, None]))
    result = pixels(call(anchor("x", of=inner), image).image).astype(int)
    assert np.abs(result - image).mean() < 0.6


def test_detail_is_not_touched() -> None:
    image = picture()
    inner = Scripted(painted(lambda before: cv2.GaussianBlur(before, (0, 0), 1.2)))
    bare = pixels(call(inner, image).image).astype(float)
    moved = pixels(call(anchor("x", of=inner), image).image) - bare
    fine = moved - cv2.GaussianBlur(moved, (0, 0), 3.0)
    assert np.abs(fine).mean() < 0.5


def test_an_editor_without_a_cast_is_handed_on_as_it_came() -> None:
    image, inner = picture(), Scripted(painted(with_disc))
    done = call(anchor("x", of=inner), image)
    assert done.image == call(inner, image).image
    assert done.used["moved"] == 0


def test_an_edit_of_all_colours_is_left_alone() -> None:
    image = picture()
    inner = Scripted(painted(lambda before: np.repeat(cv2.cvtColor(before, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2)))
    done = call(anchor("x", of=inner), image)
    assert done.image == call(inner, image).image
    assert "the whole image changed colour" in done.used["left_alone"]


def test_another_colour_of_one_thing_is_left_to_it() -> None:
    image = with_disc(picture(), (200, 40, 40), 20)
    green = with_disc(image, (40, 180, 60), 20)
    done = call(anchor("x", of=Scripted(painted(lambda before: green + np.array([3, -2, 0])))), image)
    result = pixels(done.image).astype(float)
    assert np.abs(result[disc(radius=20)].mean(axis=0) - (40, 180, 60)).max() < 5


def test_an_answer_of_another_size_is_handed_on_as_it_came() -> None:
    image, inner = picture(), Scripted(painted(lambda before: before[:90]))
    done = call(anchor("x", of=inner), image)
    assert done.image == call(inner, image).image
    assert done.used == {"moved": 0.0, "left_alone": "came back at 96×90"}


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (3, 2)])
def test_tiny_pictures_do_not_fail(shape: tuple[int, int]) -> None:
    image: Any = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    assert pixels(call(anchor("x", of=Scripted(same())), image).image).shape == image.shape


def test_unknown_option_is_refused_with_a_suggestion() -> None:
    with pytest.raises(StudyError, match="unknown key 'reech'; did you mean 'reach'"):
        anchor("x", of=Scripted(), reech=0.1)


def test_a_tint_does_not_add_up_any_more(pictures: Any, chain: Any) -> None:
    image = pictures["object"]
    words = ("add an apple in the foreground", "remove the apple in the foreground")
    bare, held, ideal = (
        chain(make_editor(name), image, *words, rounds=3)[-1].astype(int)
        for name in ("resave(sim-tint)", "anchor(sim-tint)", "resave(sim-perfect)")
    )
    assert (bare - ideal)[..., 1].mean() > 5
    assert np.abs(held - ideal).mean() < 0.3
