from __future__ import annotations

import cv2
import numpy as np
import pytest

from convergebench.failures.colour_cast import SHIFT, colour_cast
from convergebench.images.frame import Pixels
from tests.failures.planted import FROM, astronaut, chain, found, planted, whole


def _shifted(pixels: Pixels, a: float, b: float) -> Pixels:
    lab = np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), np.float32)
    return whole(np.asarray(cv2.cvtColor(lab + np.array([0, a, b], np.float32), cv2.COLOR_LAB2RGB), np.float32) * 255)


@pytest.mark.parametrize(
    ("a", "b", "word"),
    [(-8, 2, "green"), (9, 3, "red"), (0, -9, "blue"), (0, 9, "yellow"), (8, -4, "magenta"), (5, -7, "violet")],
)
def test_the_cast_is_found_measured_and_named(a: float, b: float, word: str) -> None:
    result = colour_cast(planted(lambda pixels, step: _shifted(pixels, a, b)))
    assert found(result) == FROM
    assert f"a {word} cast" in result.findings[0].detail
    assert result.probes["a"][FROM] == pytest.approx(a, abs=1)
    assert result.probes["b"][FROM] == pytest.approx(b, abs=1)


def test_a_cast_that_grows_is_dated_to_where_it_passes_the_threshold() -> None:
    source = np.clip(astronaut(), 30, 225).astype(np.uint8)
    frames = [_shifted(source, -0.5 * step, 0) for step in range(13)]
    assert found(colour_cast(chain(frames))) == pytest.approx(SHIFT / 0.5, abs=1)


def test_fading_is_no_cast() -> None:
    def faded(pixels: Pixels, step: int) -> Pixels:
        grey = pixels.mean(axis=-1, keepdims=True)
        return whole(grey + (pixels - grey) * 0.6)

    result = colour_cast(planted(faded))
    assert found(result) is None
    assert result.probes["saturation"][FROM] == pytest.approx(0.6, abs=0.08)


def test_fading_that_leaves_a_little_of_a_tint_is_no_cast_towards_it() -> None:
    """A yellow picture pales and moves towards blue as a whole; what is left after the fading points to yellow."""
    source = _shifted(np.clip(astronaut(), 60, 200).astype(np.uint8), 0, 25)

    def paled(pixels: Pixels, step: int) -> Pixels:
        lab = np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), np.float32)
        lab[..., 1:] = 0.5 * lab[..., 1:] + np.array([0, 5], np.float32)
        return whole(np.asarray(cv2.cvtColor(lab, cv2.COLOR_LAB2RGB), np.float32) * 255)

    result = colour_cast(planted(paled, source))
    assert found(result) is None
    assert result.probes["saturation"][FROM] < 0.8


def test_a_thing_that_changed_its_colour_is_no_cast() -> None:
    def repainted(pixels: Pixels, step: int) -> Pixels:
        out = pixels.copy()
        out[150:, :110] = out[150:, :110][..., ::-1]
        return out

    assert found(colour_cast(planted(repainted))) is None


def test_brightness_is_no_cast() -> None:
    assert found(colour_cast(planted(lambda pixels, step: whole(pixels * 1.2 + 8)))) is None


def test_black_pictures_cannot_be_told() -> None:
    black = np.zeros((128, 128, 3), np.uint8)
    assert colour_cast(chain([black] * 5)).cannot_tell
