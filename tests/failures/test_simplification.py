from __future__ import annotations

import cv2
import numpy as np
import pytest

from convergebench.failures.simplification import simplification
from convergebench.images.frame import Pixels
from tests.failures.planted import FROM, astronaut, chain, flat_colours, found, planted, whole


def _palette(pixels: Pixels, step: int) -> Pixels:
    """A corner in two colours; the rest as it was."""
    out = pixels.copy()
    corner = out[:90, :90]
    dark = cv2.medianBlur(cv2.cvtColor(corner, cv2.COLOR_RGB2GRAY), 5) < 110
    for part in (dark, ~dark):
        corner[part] = corner[part].mean(axis=0)
    return out


def test_a_corner_that_falls_to_two_colours_is_found_and_shown() -> None:
    result = simplification(planted(_palette))
    assert found(result) == FROM
    region = result.findings[0].region
    assert region is not None
    assert max(region.x + region.width / 2, region.y + region.height / 2) < 0.5


def test_a_gradient_that_becomes_bands_is_found() -> None:
    ramp = np.linspace(20, 235, 256)
    sky = np.stack(
        [np.add.outer(0.5 * ramp, 0.5 * ramp), np.tile(ramp, (256, 1)), np.tile(ramp[:, None], 256)], axis=-1
    )
    bands = np.floor(sky / 43) * 43 + 21
    assert found(simplification(chain([whole(sky), *[whole(bands)] * 4]))) == 1


@pytest.mark.parametrize("sigma", [1.0, 1.8])
def test_blur_is_no_simplification(sigma: float) -> None:
    assert (
        found(simplification(planted(lambda pixels, step: np.asarray(cv2.GaussianBlur(pixels, (0, 0), sigma))))) is None
    )


def test_fading_and_casts_are_no_simplification() -> None:
    def faded(pixels: Pixels, step: int) -> Pixels:
        return whole((128 + 0.7 * (pixels - 128.0)) * [0.9, 1.0, 0.85])

    assert found(simplification(planted(faded))) is None


def test_another_picture_is_no_simplification() -> None:
    other = flat_colours(np.roll(astronaut(), 128, (0, 1))[::-1].copy(), 1)
    result = simplification(chain([astronaut(), *[other] * 4]))
    assert found(result) is None
    assert result.probes["layout"][1] < 0.8


def test_a_picture_of_one_colour_has_nothing_to_lose() -> None:
    plain = np.full((256, 256, 3), 90, np.uint8)
    assert simplification(chain([plain] * 5)).cannot_tell
