"""Classical restorers as editors: identity, odd pictures, options, equal bytes."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from convergebench.editors.classical.family import METHODS
from convergebench.editors.find import make_editor
from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from tests.editors.classical.spoiling import blurred, edited, noisy, photograph, restored, scratched

NAMES = list(METHODS)
SIZES = [(1, 1), (1, 40), (40, 1), (3, 3), (16, 16), (17, 33), (200, 12), (129, 70)]


def spoilt(side: int = 160) -> Any:
    pixels, _ = scratched(blurred(photograph("astronaut", side), "gauss:1.3", 6), 2, 250)
    return pixels


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    editor = make_editor(name)
    assert editor.fingerprint.startswith(f"{name}@")
    assert editor.capabilities.deterministic
    assert not editor.capabilities.instructed
    assert not editor.capabilities.seed
    assert not editor.capabilities.simulated
    assert 0 < editor.capabilities.seconds_per_call <= 6


@pytest.mark.parametrize("name", NAMES)
def test_words_change_nothing_and_threads_change_no_byte(name: str) -> None:
    picture = spoilt(96)
    first = edited(name, picture, "sharpen it").image
    before = cv2.getNumThreads()
    try:
        cv2.setNumThreads(1)
        assert edited(name, picture, "leave it").image == first
    finally:
        cv2.setNumThreads(before)
    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(lambda _: edited(name, picture).image, range(2))) == {first}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", SIZES)
def test_any_size_comes_back_at_that_size(name: str, size: tuple[int, int]) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (*size, 3), np.uint8)
    assert restored(name, pixels).shape == pixels.shape


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, 128, 255])
def test_a_plain_picture_stays_plain(name: str, value: int) -> None:
    plain = np.full((64, 80, 3), value, np.uint8)
    assert np.abs(restored(name, plain).astype(int) - value).max() <= 1


@pytest.mark.parametrize("name", NAMES)
def test_a_grey_picture_stays_grey(name: str) -> None:
    grey = spoilt().mean(axis=2).astype(np.uint8)
    data = bytes(cv2.imencode(".png", grey)[1])
    answer = decode(edited(name, data).image).pixels
    assert np.ptp(answer.astype(int), axis=2).max() == 0


@pytest.mark.parametrize("name", ["non-local-means", "wiener"])
def test_what_is_transparent_becomes_white(name: str) -> None:
    rgba = np.dstack([photograph("coffee", 64), np.full((64, 64), 255, np.uint8)])
    rgba[:, :24, 3] = 0
    data = io.BytesIO()
    Image.fromarray(rgba).save(data, "PNG")
    assert decode(edited(name, data.getvalue()).image).pixels[:, :16].mean() > 250


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("non-local-means", {"noize": 3}, "unknown key 'noize'; did you mean 'noise'"),
        ("non-local-means", {"noise": -1}, "noise"),
        ("bilateral", {"radius": 0}, "radius"),
        ("unsharp", {"amount": "much"}, "amount"),
        (
            "wiener",
            {"psf": "disc:4"},
            "editor 'wiener': psf is 'auto', 'gauss:1.5', 'disk:4' or 'line:15@30', not 'disc:4'",
        ),
        ("richardson-lucy", {"rounds": 0}, "rounds"),
        ("richardson-lucy", {"psf": "disk:900"}, "from 0.2 to 64 pixels"),
        ("scratch-inpaint", {"fill": "magic"}, "fill"),
        ("restore-classical", {"deblur": 2}, "deblur"),
    ],
)
def test_a_wrong_option_is_one_line(name: str, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(StudyError, match=complaint) as caught:
        make_editor(name, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("non-local-means", {"strength": 2.0}),
        ("bilateral", {"radius": 3.0}),
        ("unsharp", {"amount": 2.0}),
        ("richardson-lucy", {"rounds": 3, "psf": "gauss:1.3"}),
        ("wiener", {"psf": "disk:2"}),
        ("scratch-inpaint", {"fill": "navier-stokes"}),
        ("restore-classical", {"denoise": 0.0}),
    ],
)
def test_options_change_the_answer_and_the_identity(name: str, options: dict[str, Any]) -> None:
    picture = spoilt()
    assert make_editor(name, **options).fingerprint != make_editor(name).fingerprint
    assert edited(name, picture, **options).image != edited(name, picture).image


def test_the_answer_says_what_was_estimated() -> None:
    used = edited("restore-classical", noisy(blurred(photograph("astronaut", 256), "disk:3", 0), 8)).used
    assert used["noise"] == pytest.approx(8, rel=0.2)
    assert {"damaged", "psf", "opencv"} <= used.keys()


def test_what_is_mostly_marks_is_not_filled() -> None:
    """Bars that cover much of the picture are its content, whatever they look like."""
    bars = np.full((128, 128, 3), 20, np.uint8)
    bars[:, ::6] = 250
    np.testing.assert_array_equal(restored("scratch-inpaint", bars), bars)


def test_two_can_be_put_in_sequence() -> None:
    picture = spoilt()
    one = encode_png(restored("non-local-means", picture))
    two = edited("unsharp", one).image
    assert edited("then(non-local-means, unsharp)", picture).image == two
