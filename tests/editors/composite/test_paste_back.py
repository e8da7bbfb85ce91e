"""paste-back: the edit from the editor, everything else from the input."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.editors.composite.paste_back import paste_back
from convergebench.editors.find import make_editor
from convergebench.errors import BadReply, StudyError
from convergebench.types import Capabilities, Edited
from tests.editors.composite.scripted import Scripted, call, disc, painted, picture, pixels, same, with_disc


def worn_disc(image: Any) -> Any:
    """A disc, and static all over."""
    return with_disc(image) + np.random.default_rng(3).normal(0, 2, image.shape)


def test_untouched_pixels_are_the_inputs_and_the_object_is_the_editors() -> None:
    image = picture()
    inner = Scripted(painted(worn_disc))
    done = call(paste_back("x", of=inner), image)
    bare = pixels(call(inner, image).image)
    result = pixels(done.image)
    inside = disc()
    np.testing.assert_array_equal(result[inside], bare[inside])
    far = cv2.dilate(inside.astype(np.uint8), np.ones((21, 21), np.uint8)) == 0
    np.testing.assert_array_equal(result[far], image[far])
    assert done.mime == "image/png"
    assert done.used["kept"] == pytest.approx((result == image).all(axis=2).mean(), abs=0.02)
    assert done.used["threshold"] >= 2


@given(seed=st.integers(0, 20), radius=st.integers(4, 16), sigma=st.floats(0, 3), tint=st.floats(-3, 3))
@settings(max_examples=15, deadline=None)
def test_every_pixel_lies_between_the_input_and_the_answer(seed: int, radius: int, sigma: float, tint: float) -> None:
    image = picture(seed)

    def change(before: Any) -> Any:
        return with_disc(before, radius=radius) + np.random.default_rng(seed).normal(tint, sigma, before.shape)

    inner = Scripted(painted(change))
    done = call(paste_back("x", of=inner), image)
    result, bare = pixels(done.image).astype(int), pixels(call(inner, image).image).astype(int)
    assert (result >= np.minimum(image, bare)).all()
    assert (result <= np.maximum(image, bare)).all()
    inside = disc(radius=radius)
    np.testing.assert_array_equal(result[inside], bare[inside])
    assert (result == image).all(axis=2).mean() >= done.used["kept"] > 0.5


def test_an_editor_that_does_nothing_gives_the_input() -> None:
    image = picture()
    done = call(paste_back("x", of=Scripted(same())), image)
    np.testing.assert_array_equal(pixels(done.image), image)
    assert done.used["kept"] == 1


def test_wear_without_an_edit_gives_the_input() -> None:
    image = picture()
    noise = Scripted(painted(lambda before: before + np.random.default_rng(0).normal(0, 2, before.shape)))
    np.testing.assert_array_equal(pixels(call(paste_back("x", of=noise), image).image), image)


@pytest.mark.parametrize("turn", [lambda image: image[:, ::-1], lambda image: np.rot90(image)], ids=["flip", "turn"])
def test_a_mirrored_or_turned_answer_is_handed_on_as_it_came(turn: Any) -> None:
    image, inner = picture(), Scripted(painted(turn))
    done = call(paste_back("x", of=inner), image)
    assert done.image == call(inner, image).image
    assert done.used["kept"] == 0
    assert "looks like" in done.used["left_alone"]


def test_an_answer_of_another_size_is_handed_on_as_it_came() -> None:
    image, inner = picture(), Scripted(painted(lambda before: before[:90], used={"size": "90"}))
    done = call(paste_back("x", of=inner), image)
    assert done.image == call(inner, image).image
    assert done.used == {"kept": 0.0, "left_alone": "came back at 96×90", "of": {"size": "90"}}


def test_room_and_border_grow_with_their_options() -> None:
    image, inner = picture(), Scripted(painted(worn_disc))
    kept = [
        call(paste_back("x", of=inner, grow=grow, feather=feather), image).used["kept"]
        for grow, feather in ((0.0, 0.0), (0.05, 0.0), (0.05, 0.1))
    ]
    assert kept[0] > kept[1] > kept[2]


def test_facts_of_the_call_are_handed_on() -> None:
    inner = Scripted(painted(worn_disc, 0.25, reasoning="I drew.", raw='{"id": 1}', used={"size": "1K"}))
    done = call(paste_back("x", of=inner), picture())
    assert (done.model, done.dollars, done.reasoning, done.raw) == ("model-1", 0.25, "I drew.", '{"id": 1}')
    assert done.used["of"] == {"size": "1K"}


def test_bytes_that_are_no_image_are_a_bad_reply_with_its_price() -> None:
    inner = Scripted(lambda request: Edited(b"oops", "image/png", "m", 0.5, raw="sorry"))
    with pytest.raises(BadReply, match="the image from scripted is not a readable image") as caught:
        call(paste_back("x", of=inner), picture())
    assert (caught.value.dollars, caught.value.raw) == (0.5, "sorry")


def test_an_unreadable_input_is_told_before_anything_is_paid() -> None:
    inner = Scripted(same(1.0))
    with pytest.raises(StudyError, match="the image to edit is not a readable image"):
        call(paste_back("x", of=inner), b"nothing")
    assert not inner.asked


def test_no_session_is_kept() -> None:
    inner = Scripted(capabilities=Capabilities(sessions=True, dollars_per_turn=0.1))
    made = paste_back("x", of=inner)
    assert not made.capabilities.sessions
    assert made.capabilities.dollars_per_turn == 0


def test_unknown_option_is_refused_with_a_suggestion() -> None:
    with pytest.raises(StudyError, match="unknown key 'featther'; did you mean 'feather'"):
        paste_back("x", of=Scripted(), featther=0.1)


@pytest.mark.parametrize("of", [None, 3, "", {"quality": 3}])
def test_something_else_than_an_editor_is_refused(of: Any) -> None:
    with pytest.raises(StudyError, match="x needs an editor as 'of', such as of = 'sim-jpeg'"):
        paste_back("x", of=of)


@pytest.mark.parametrize("disease", ["sim-jpeg", "sim-noise", "sim-tint", "sim-blur", "sim-contracting"])
def test_simulated_wear_is_kept_out_and_the_ball_in(disease: str, pictures: Any, run: Any) -> None:
    image = pictures["object"]
    bare = pixels(run(make_editor(disease), image, "add a red ball").image)
    cured = pixels(run(make_editor(f"paste-back({disease})"), image, "add a red ball").image)
    assert (cured == image).all(axis=2).mean() > 0.75
    far = np.abs(bare.astype(int) - image).max(axis=2) > 60
    np.testing.assert_array_equal(cured[far], bare[far])


def test_what_it_takes_for_wear_is_said_before_it_is_used() -> None:
    from convergebench.editors.base import notices
    from convergebench.editors.find import make_editor

    assert [
        one for one in notices(make_editor("paste-back(paste-back(sim-blur))")) if "blur, sharpen" in one
    ] == notices(make_editor("paste-back(sim-jpeg)"))
