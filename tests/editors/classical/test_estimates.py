"""What the classical restorers find out about a picture before they touch it."""

from __future__ import annotations

import numpy as np
import pytest

from convergebench.editors.classical.blur import estimate_blur
from convergebench.editors.classical.luminance import luminance, with_luminance
from convergebench.editors.classical.noise import noise_level, was_processed
from convergebench.editors.classical.psf import PointSpread, read_psf
from convergebench.editors.classical.scratches import find_damage
from convergebench.editors.classical.taper import tapered
from convergebench.errors import StudyError
from tests.editors.classical.spoiling import PHOTOGRAPHS, blurred, noisy, photograph, scratched


@pytest.mark.parametrize("sigma", [4, 10, 20])
def test_noise_on_plain_grey_is_measured_exactly(sigma: float) -> None:
    grey = np.full((256, 256, 3), 128, np.uint8)
    assert noise_level(noisy(grey, sigma)) == pytest.approx(sigma, rel=0.06)


@pytest.mark.parametrize("photo", PHOTOGRAPHS)
def test_noise_on_a_photograph_is_measured_within_a_quarter(photo: str) -> None:
    assert noise_level(noisy(photograph(photo), 15)) == pytest.approx(15, rel=0.25)


def test_plain_black_white_and_tiny_pictures_have_no_noise() -> None:
    for value in (0, 128, 255):
        assert noise_level(np.full((64, 64, 3), value, np.uint8)) == 0
    assert noise_level(np.random.default_rng(0).integers(0, 256, (9, 9, 3), np.uint8)) == 0


@pytest.mark.parametrize("end", [0, 255])
def test_noise_that_is_cut_off_at_black_or_white_does_not_hide_the_rest(end: int) -> None:
    half = np.full((256, 256, 3), 128, np.uint8)
    half[:160] = end
    assert noise_level(noisy(half, 10)) == pytest.approx(10, rel=0.1)


def test_an_enlarged_picture_is_told_from_one_with_a_cameras_noise() -> None:
    clean = photograph("astronaut", 512)
    small = photograph("astronaut", 128)
    assert was_processed(np.kron(small, np.ones((4, 4, 1), np.uint8)))
    assert not was_processed(noisy(clean, 2))


SLOW = [pytest.param(one, marks=pytest.mark.slow) for one in ("gauss:2.5", "disk:5", "line:9@20", "line:25@130")]


@pytest.mark.parametrize("truth", ["gauss:2", "disk:3", "line:17@65", *SLOW])
def test_the_blur_of_most_photographs_is_found(truth: str) -> None:
    """Out of focus or moved, how far and which way: for at least three of four photographs."""
    known, right = read_psf(truth), 0
    photos = ("astronaut", "coffee", "chelsea", "rocket")
    for photo in photos:
        found = estimate_blur(luminance(blurred(photograph(photo, 512), truth))).psf
        turned = 0.0 if found is None else abs((found.angle - known.angle + 90) % 180 - 90)
        right += (
            found is not None and found.shape == known.shape and turned <= 10 and 0.8 < found.size / known.size < 1.25
        )
    assert right >= 3


@pytest.mark.parametrize("photo", PHOTOGRAPHS)
def test_a_sharp_photograph_has_no_blur_worth_mentioning(photo: str) -> None:
    found = estimate_blur(luminance(photograph(photo, 512))).psf
    assert found is None or found.size <= (5 if found.shape == "line" else 1.6)


@pytest.mark.parametrize("photo", PHOTOGRAPHS)
@pytest.mark.parametrize("tone", [245, 8])
def test_parallel_things_are_not_taken_for_motion(photo: str, tone: int) -> None:
    """Scratches all run one way; undoing a motion along them would cost ten decibels."""
    found = estimate_blur(luminance(scratched(photograph(photo), 3, tone)[0])).psf
    assert found is None or found.shape == "gauss"


def test_plain_and_tiny_pictures_have_no_blur() -> None:
    assert estimate_blur(np.full((128, 128), 0.5, np.float32)).psf is None
    assert estimate_blur(np.random.default_rng(0).uniform(size=(20, 200)).astype(np.float32)).psf is None


@pytest.mark.parametrize("tone", [245, 8], ids=["bright", "dark"])
def test_most_of_what_is_found_are_scratches_and_most_scratches_are_found(tone: int) -> None:
    clean = photograph("coffee", 512)
    spoilt, truth = scratched(clean, 1, tone)
    visible = truth & (np.abs(spoilt.astype(int) - clean).min(axis=2) > 40)  # not a dark one on dark wood
    found = find_damage(spoilt)
    near = np.zeros_like(truth)
    for down in (-1, 0, 1):
        for across in (-1, 0, 1):
            near |= np.roll(truth, (down, across), (0, 1))
    assert (found & visible).sum() > 0.5 * visible.sum()
    assert (found & near).sum() > 0.5 * found.sum()


def test_noise_is_no_scratch() -> None:
    grey = np.full((256, 256, 3), 120, np.uint8)
    assert not find_damage(noisy(grey, 25)).any()


@pytest.mark.parametrize("text", ["gauss:1.5", "disk:4", "line:15@30"])
def test_a_psf_reads_as_it_is_written_and_sums_to_one(text: str) -> None:
    psf = read_psf(text)
    kernel = psf.kernel()
    assert str(psf) == text
    assert kernel.sum() == pytest.approx(1, abs=1e-5)
    assert kernel.shape[0] == kernel.shape[1]
    assert kernel.shape[0] % 2 == 1


@pytest.mark.parametrize("angle", [0, 30, 75, 120])
def test_a_line_points_where_its_angle_says_and_is_as_long_as_it_says(angle: float) -> None:
    kernel = PointSpread("line", 15, angle).kernel()
    across, down = np.meshgrid(*(np.arange(side) - side // 2 for side in kernel.shape[::-1]))
    spread = {"across": (kernel * across**2).sum(), "down": (kernel * down**2).sum()}
    both = -(kernel * across * down).sum()  # rows count downwards, angles turn upwards
    assert np.degrees(0.5 * np.arctan2(2 * both, spread["across"] - spread["down"])) % 180 == pytest.approx(
        angle, abs=2
    )
    assert np.sqrt(12 * (spread["across"] + spread["down"])) == pytest.approx(15, abs=0.5)


@pytest.mark.parametrize("text", ["disk", "disk:0", "disk:1000", "square:3", "gauss:2@30", "line:9@x", "disk:-4", ""])
def test_a_psf_that_makes_no_sense_is_one_line(text: str) -> None:
    with pytest.raises(StudyError, match=r"psf|only a line") as caught:
        read_psf(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [(5, 7), (60, 41)])
def test_a_continued_picture_holds_the_picture_and_closes_without_a_jump(shape: tuple[int, int]) -> None:
    plane = np.random.default_rng(0).uniform(size=shape).astype(np.float32)
    plane[:, -1] += 5
    whole, inside = tapered(plane, 20)
    np.testing.assert_array_equal(whole[inside][: shape[0], : shape[1]], plane)
    assert np.abs(whole[:, 0] - whole[:, -1]).max() < 1.0


def test_another_luminance_keeps_colour_differences() -> None:
    pixels = np.random.default_rng(0).integers(60, 180, (20, 20, 3), np.uint8)
    before = luminance(pixels)
    brighter = with_luminance(pixels, before, before + np.float32(20 / 255))
    np.testing.assert_array_equal(brighter, pixels + 20)
    np.testing.assert_array_equal(with_luminance(pixels, before, before), pixels)
