from __future__ import annotations

import cv2
import numpy as np
import pytest

from convergebench.failures.static_noise import LEVELS, static_noise
from convergebench.images.frame import Pixels
from tests.failures.planted import FROM, astronaut, chain, found, planted, static, whole


@pytest.mark.parametrize("sigma", [4.0, 8.0, 20.0])
def test_the_probe_is_the_noise_in_levels(sigma: float) -> None:
    def grey(pixels: Pixels, step: int) -> Pixels:
        return whole(pixels + np.random.default_rng(step).normal(0, sigma, pixels.shape[:2])[..., None])

    shade = np.linspace(110, 150, 256)
    source = whole(np.repeat(np.add.outer(shade, shade)[..., None] / 2, 3, axis=2))
    result = static_noise(planted(grey, source))
    assert found(result) == FROM
    assert result.probes["noise"][FROM] == pytest.approx(sigma, rel=0.1)


def test_noise_in_colour_alone_is_found_and_named() -> None:
    def coloured(pixels: Pixels, step: int) -> Pixels:
        blue = np.random.default_rng(step).normal(0, 12, pixels.shape[:2])
        return whole(pixels + np.stack([np.zeros_like(blue), -0.19 * blue, blue], axis=-1))

    result = static_noise(planted(coloured))
    assert found(result) == FROM
    assert "blue against yellow" in result.findings[0].detail


def test_noise_under_the_threshold_is_left_alone() -> None:
    def faint(pixels: Pixels, step: int) -> Pixels:
        grain = np.random.default_rng(step).normal(0, 0.6 * LEVELS, pixels.shape[:2])
        return whole(pixels + grain[..., None])

    assert found(static_noise(planted(faint))) is None


@pytest.mark.parametrize(("grown", "seen"), [(0.8, False), (1.25, True)])
def test_the_threshold_is_two_levels_on_flat_pictures(grown: float, seen: bool) -> None:
    def grain(pixels: Pixels, step: int) -> Pixels:
        return whole(pixels + np.random.default_rng(step).normal(0, 2.0 * grown, pixels.shape[:2])[..., None])

    shade = np.linspace(110, 150, 256)
    source = whole(np.repeat(np.add.outer(shade, shade)[..., None] / 2, 3, axis=2))
    assert (found(static_noise(planted(grain, source))) == FROM) is seen


@pytest.mark.parametrize(("grown", "seen"), [(0.8, False), (1.25, True)])
def test_the_threshold_is_six_tenths_of_the_texture_on_rough_ones(grown: float, seen: bool) -> None:
    texture = 12.0
    rough = np.random.default_rng(99).normal(128, texture, (256, 256))
    source = whole(np.repeat(rough[..., None], 3, axis=2))

    def grain(pixels: Pixels, step: int) -> Pixels:
        added = np.random.default_rng(step).normal(0, 0.6 * texture * grown, pixels.shape[:2])
        return whole(pixels + added[..., None])

    assert (found(static_noise(planted(grain, source))) == FROM) is seen


def test_noise_that_the_source_has_already_does_not_count() -> None:
    noisy = static(astronaut(), 100)
    assert found(static_noise(planted(lambda pixels, step: pixels, noisy))) is None


def test_specks_are_not_noise_however_many() -> None:
    def peppered(pixels: Pixels, step: int) -> Pixels:
        out = pixels.copy()
        out[np.random.default_rng(step).random(pixels.shape[:2]) < 0.015] = 0
        return out

    assert found(static_noise(planted(peppered))) is None


def test_the_square_that_is_shown_lies_where_the_noise_is() -> None:
    source = np.full((256, 256, 3), 128, np.uint8)
    cv2.putText(source, "words", (20, 140), cv2.FONT_HERSHEY_SIMPLEX, 2, (30, 30, 30), 4)

    def below(pixels: Pixels, step: int) -> Pixels:
        out = static(pixels, step)
        out[:64] = static(out[:64], step + 50)  # twice as much at the top
        return out

    region = static_noise(chain([source, *(below(source, step) for step in range(1, 6))])).findings[0].region
    assert region is not None
    assert region.y < 0.25
