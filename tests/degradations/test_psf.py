"""Point spread functions against what optics says of them: sums, moments and spectra."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import j1

from convergebench.degradations._linear_light import to_light, to_pixels
from convergebench.degradations._psf import along, blurred, disk, gaussian, line, shaken
from convergebench.images.frame import Plane


def moments(psf: Plane) -> tuple[float, float, float, float, float]:
    """Centre (right, down) from the middle, variances (right, down), covariance."""
    reach = psf.shape[0] // 2
    down, right = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    x, y = float((psf * right).sum()), float((psf * down).sum())
    return (
        *(x, y, float((psf * (right - x) ** 2).sum()), float((psf * (down - y) ** 2).sum())),
        float((psf * (right - x) * (down - y)).sum()),
    )


@settings(max_examples=60, deadline=None)
@given(radius=st.floats(0, 30))
def test_a_disk_sums_to_1_and_is_even(radius: float) -> None:
    psf = disk(radius)
    assert psf.sum() == pytest.approx(1, abs=1e-5)
    assert np.allclose(psf, psf[::-1])
    assert np.allclose(psf, psf.T)


@pytest.mark.parametrize("radius", [1.3, 2.0, 4.5, 9.25])
def test_a_disk_has_the_variance_of_a_disk(radius: float) -> None:
    """A disk has R²/4 along each axis; a pixel that averages adds 1/12."""
    _, _, across, down, _ = moments(disk(radius))
    assert across == pytest.approx(radius**2 / 4 + 1 / 12, rel=0.05)
    assert across == pytest.approx(down)


def test_a_disk_has_the_spectrum_of_a_disk() -> None:
    """Its first zero, where details vanish and turn, is at a frequency of 0.61 / R."""
    radius, size = 6.0, 256
    spectrum = np.fft.fft2(disk(radius), (size, size))
    frequency = np.arange(1, 30) / size
    expected = 2 * j1(2 * math.pi * radius * frequency) / (2 * math.pi * radius * frequency)
    assert np.abs(np.abs(spectrum[0, 1:30]) - np.abs(expected)).max() < 0.02


@settings(max_examples=60, deadline=None)
@given(length=st.floats(0, 50), angle=st.floats(0, math.pi))
def test_a_line_sums_to_1_and_does_not_shift_the_picture(length: float, angle: float) -> None:
    psf = line(length, angle)
    x, y, *_ = moments(psf)
    assert psf.sum() == pytest.approx(1, abs=1e-5)
    assert abs(x) < 1e-4
    assert abs(y) < 1e-4


@pytest.mark.parametrize("angle", [0.0, 0.4, math.pi / 4, 2.2])
def test_a_line_has_the_length_and_the_direction_that_it_was_given(angle: float) -> None:
    """Variance L²/12 along it; sharing points among pixels adds at most 1/4 each way."""
    length = 17.3
    _, _, across, down, mixed = moments(line(length, angle))
    along_it = across * math.cos(angle) ** 2 + down * math.sin(angle) ** 2 + mixed * math.sin(2 * angle)
    beside_it = across * math.sin(angle) ** 2 + down * math.cos(angle) ** 2 - mixed * math.sin(2 * angle)
    assert length**2 / 12 - 0.1 < along_it < length**2 / 12 + 0.35
    assert 0 <= beside_it < 0.3


def test_a_line_has_the_spectrum_of_a_shutter() -> None:
    length, size = 12.0, 256
    spectrum = np.abs(np.fft.fft2(line(length, 0.0), (size, size)))[0, 1:40]
    assert np.abs(spectrum - np.abs(np.sinc(length * np.arange(1, 40) / size))).max() < 0.03


@settings(max_examples=40, deadline=None)
@given(length=st.floats(0.1, 60), seed=st.integers(0, 1000))
def test_a_shaken_path_is_as_long_as_told_and_leaves_the_centre_in_place(length: float, seed: int) -> None:
    path = shaken(length, np.random.default_rng(seed))
    assert np.hypot(*np.diff(path, axis=0).T).sum() == pytest.approx(length, rel=0.02)
    psf = along(path)
    x, y, *_ = moments(psf)
    assert psf.sum() == pytest.approx(1, abs=1e-5)
    assert max(abs(x), abs(y)) < 1e-4


def test_shaken_paths_are_curved_and_keep_their_shape_when_they_are_longer() -> None:
    short, long = (shaken(length, np.random.default_rng(7)) for length in (10, 40))
    ends = [np.hypot(*(path[-1] - path[0])) for path in (short, long)]
    assert ends[1] == pytest.approx(4 * ends[0], rel=0.02)
    bends = [
        np.hypot(*(path[-1] - path[0])) / 20 for path in (shaken(20, np.random.default_rng(seed)) for seed in range(40))
    ]
    assert np.mean(bends) < 0.95, "on average the ends are nearer than the way between them"


def test_a_gaussian_is_as_wide_as_told_both_ways() -> None:
    _, _, across, down, _ = moments(gaussian(4.0, 2.0, 0.0))
    assert across == pytest.approx(16, rel=0.05)
    assert down == pytest.approx(4, rel=0.05)


def test_blur_convolves_in_the_right_direction_and_mirrors_the_border() -> None:
    point = np.zeros((9, 9, 3), np.float32)
    point[4, 4] = 1
    psf = np.zeros((3, 3), np.float32)
    psf[0, 2] = 1  # light goes up and to the right
    assert np.argwhere(blurred(point, psf)[..., 0] > 0.5).tolist() == [[3, 5]]
    even = np.full((12, 10, 3), 0.25, np.float32)
    assert np.allclose(blurred(even, disk(5)), 0.25, atol=1e-5)


def test_every_level_comes_back_from_linear_light() -> None:
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, axis=2)
    assert np.array_equal(to_pixels(to_light(levels)), levels)
    assert to_light(np.array([[[128, 128, 128]]], np.uint8))[0, 0, 0] == pytest.approx(0.2158605, abs=1e-5)
