"""Where a step changed the picture in particular, whatever it did to all of it."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from convergebench.editors.simulated.pixels import encode_jpeg
from convergebench.failures._changes import changes
from convergebench.images.decode import decode
from convergebench.images.frame import Frame, Pixels
from tests.failures.chains import picture


def with_disc(pixels: Pixels, radius: int = 16) -> Pixels:
    out = pixels.copy()
    cv2.circle(out, (220, 210), radius, (200, 30, 30), -1, cv2.LINE_AA)
    return out


def noisy(pixels: Pixels) -> Pixels:
    return np.clip(pixels + np.random.default_rng(2).normal(0, 8, pixels.shape), 0, 255).astype(np.uint8)


def tinted(pixels: Pixels) -> Pixels:
    return np.asarray(np.clip(pixels * (0.92, 1.04, 0.9) + (0, 8, 4), 0, 255), np.uint8)


def blurred(pixels: Pixels) -> Pixels:
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), 1.5), np.uint8)


def saved(pixels: Pixels) -> Pixels:
    return decode(encode_jpeg(pixels, 35)).pixels


def cropped(pixels: Pixels) -> Pixels:
    return np.ascontiguousarray(pixels[10:, 6:])


def enlarged(pixels: Pixels) -> Pixels:
    return np.asarray(cv2.resize(pixels, (480, 480), interpolation=cv2.INTER_CUBIC), np.uint8)


ALL_OVER = [noisy, tinted, blurred, saved, cropped, enlarged]


@pytest.mark.parametrize("harm", ALL_OVER)
def test_what_happens_to_the_whole_picture_is_no_patch(harm: Any) -> None:
    found = changes(Frame(harm(picture("motorcycle"))), Frame(picture("motorcycle")))
    assert found.patches == ()
    assert found.strength < 1


@pytest.mark.parametrize("harm", ALL_OVER)
def test_a_small_disc_is_found_under_it(harm: Any) -> None:
    (patch,) = changes(Frame(harm(with_disc(picture("motorcycle")))), Frame(picture("motorcycle"))).patches
    x, y = patch.box.x + patch.box.width / 2, patch.box.y + patch.box.height / 2
    assert x == pytest.approx(220 / 320, abs=0.03)
    assert y == pytest.approx(210 / 320, abs=0.03)
    assert 0.08 < patch.box.width < 0.2


def test_the_colour_of_a_patch_is_what_it_shows_now() -> None:
    (patch,) = changes(Frame(with_disc(picture())), Frame(picture())).patches
    lightness, red, _ = patch.colour
    assert red > 30
    assert 25 < lightness < 60


def test_a_thing_taken_away_is_a_change_as_well() -> None:
    assert len(changes(Frame(picture()), Frame(with_disc(picture()))).patches) == 1


def test_strength_grows_with_the_contrast_of_the_thing() -> None:
    strengths = []
    for lift in (4, 12, 40):
        brighter = picture().copy()
        there = np.s_[190:230, 200:240]
        brighter[there] = np.clip(brighter[there].astype(int) + lift, 0, 255)
        strengths.append(changes(Frame(brighter), Frame(picture())).strength)
    assert strengths == sorted(strengths)
    assert strengths[0] < 1 < strengths[2]


def test_an_outline_that_moved_by_a_pixel_is_no_thing() -> None:
    moved = np.roll(picture("rocket"), 1, axis=1)
    assert changes(Frame(moved), Frame(picture("rocket"))).patches == ()


def test_equal_pictures_do_not_differ() -> None:
    found = changes(Frame(picture()), Frame(picture()))
    assert found.strength < 0.05
    assert (found.patches, found.inconclusive) == ((), False)
