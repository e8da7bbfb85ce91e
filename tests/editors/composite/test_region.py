"""Telling an edit from wear."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.editors.composite.region import DividedImage, NotDivided, divide
from convergebench.editors.composite.tone import fit_tone
from convergebench.metrics.operations import GEOMETRIC
from tests.editors.composite.scripted import Pixels, disc, picture, with_disc

LIMITS: dict[str, float] = {"tint": 5.0, "most": 0.6}


def jpeg(image: Pixels) -> Pixels:
    """Saved at quality 75."""
    data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 75])[1]
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def noisy(image: Pixels) -> Pixels:
    """Static of two levels."""
    noise = np.random.default_rng(1).normal(0, 2, image.shape)
    return np.clip(np.rint(image + noise), 0, 255).astype(np.uint8)


WEARS: dict[str, Any] = {
    "nothing": lambda image: image,
    "jpeg": jpeg,
    "noise": noisy,
    "tint": lambda image: np.clip(image + np.array([0, 3, -2]), 0, 255).astype(np.uint8),
    "contrast": lambda image: np.rint(128 + 0.93 * (image.astype(float) - 128)).astype(np.uint8),
    "blur": lambda image: np.asarray(cv2.GaussianBlur(image, (0, 0), 0.8), np.uint8),
    "light": lambda image: np.clip(image + np.linspace(-4, 4, 96)[None, :, None], 0, 255).astype(np.uint8),
}


def parts(after: Pixels, before: Pixels) -> DividedImage:
    found = divide(after, before, **LIMITS)
    assert isinstance(found, DividedImage), found
    return found


@pytest.mark.parametrize("wear", WEARS)
@pytest.mark.parametrize("seed", range(3))
def test_wear_alone_is_no_edit(wear: str, seed: int) -> None:
    image = picture(seed)
    assert parts(WEARS[wear](image), image).edited.mean() < 0.02


@pytest.mark.parametrize("wear", WEARS)
@pytest.mark.parametrize("seed", range(3))
def test_object_is_found_whole_under_any_wear(wear: str, seed: int) -> None:
    image = picture(seed)
    found = parts(WEARS[wear](with_disc(image)), image).edited
    inside = disc()
    assert found[inside].mean() > 0.99
    near = cv2.dilate(inside.astype(np.uint8), np.ones((15, 15), np.uint8)) > 0
    assert found[~near].mean() < 0.02


def test_thin_things_are_found() -> None:
    image = picture(2)
    edited = image.copy()
    cv2.line(edited, (20, 20), (76, 70), (20, 20, 20), 2)
    drawn = (edited != image).any(axis=2)
    assert parts(noisy(edited), image).edited[drawn].mean() > 0.97


@pytest.mark.parametrize("name", GEOMETRIC)
@pytest.mark.parametrize("wear", ["nothing", "jpeg", "tint"])
def test_mirrored_and_turned_pictures_are_not_divided(name: Any, wear: str) -> None:
    image = picture(1)
    turned = np.ascontiguousarray(GEOMETRIC[name](image))
    found = divide(WEARS[wear](turned), image, **LIMITS)
    assert found == NotDivided(f"looks like a {name}")


def test_another_size_is_not_divided() -> None:
    image = picture()
    assert divide(image[:80], image, **LIMITS) == NotDivided("came back at 96×80")


def test_a_shifted_picture_is_not_divided() -> None:
    image = picture(1, side=160)
    found = divide(image[:128, 6:134].copy(), image[:128, :128].copy(), **LIMITS)
    assert isinstance(found, NotDivided)
    assert "moved by" in found.why


def test_another_picture_is_not_divided() -> None:
    found = divide(picture(4), picture(5), **LIMITS)
    assert isinstance(found, NotDivided)


@pytest.mark.parametrize(
    "change",
    [
        lambda image: np.repeat(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2),
        lambda image: np.clip(image * np.array([1.1, 1.0, 0.8]), 0, 255).astype(np.uint8),
        lambda image: np.clip(image * 1.2, 0, 255).astype(np.uint8),
        lambda image: np.ascontiguousarray(image[..., [2, 0, 1]]),
    ],
    ids=["grey", "warmer", "brighter", "channels"],
)
def test_a_new_tone_all_over_is_an_edit_of_the_whole(change: Any) -> None:
    image = picture(3)
    found = divide(change(image), image, **LIMITS)
    assert isinstance(found, NotDivided)
    assert "colour" in found.why or "another picture" in found.why


def test_a_change_of_most_of_the_picture_is_an_edit_of_the_whole() -> None:
    image = picture(3)
    found = divide(with_disc(image, radius=30), image, tint=5.0, most=0.2)
    assert isinstance(found, NotDivided)
    assert "of the image changed" in found.why


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (3, 2), (17, 5)])
def test_tiny_pictures_do_not_fail(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(0)
    before, after = (random.integers(0, 256, (*shape, 3), np.uint8) for _ in range(2))
    assert divide(after, before, **LIMITS) is not None
    assert not parts(before, before).edited.any()


@given(
    gain=st.lists(st.floats(0.95, 1.05), min_size=3, max_size=3),
    shift=st.lists(st.floats(-4, 4), min_size=3, max_size=3),
    seed=st.integers(0, 5),
)
@settings(max_examples=15, deadline=None)
def test_tone_is_learnt_beside_an_object(gain: list[float], shift: list[float], seed: int) -> None:
    image = picture(seed)
    target = np.clip(np.rint(image * np.array(gain) + np.array(shift)), 0, 255).astype(np.uint8)
    tone = fit_tone(image, with_disc(target))
    error = image + tone.added(image.astype(np.float32)) - target
    assert np.abs(error[~disc()]).mean() < 0.7


def test_tone_of_a_picture_that_shows_too_little_is_no_change() -> None:
    image = picture()
    tone = fit_tone(image, with_disc(image), np.zeros(image.shape[:2], np.float32))
    assert not tone.added(image.astype(np.float32)).any()
