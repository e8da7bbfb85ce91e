from __future__ import annotations

import cv2
import numpy as np
import pytest

from convergebench.failures.texture_loss import texture_loss
from convergebench.images.frame import Pixels
from tests.failures.planted import FROM, astronaut, chain, found, planted, soft, static, whole


def _melted(pixels: Pixels, step: int) -> Pixels:
    return np.asarray(cv2.fastNlMeansDenoisingColored(pixels, None, 26, 26, 5, 11), np.uint8)


def test_texture_that_melts_while_outlines_stay_sharp_is_found() -> None:
    assert found(texture_loss(planted(_melted, first=2, steps=5))) == 2


def test_the_probe_is_what_is_left() -> None:
    source = np.full((256, 256, 3), 128, np.uint8)
    cv2.rectangle(source, (40, 40), (210, 210), (220, 200, 190), -1)
    weave = np.random.default_rng(0).normal(0, 8, source.shape[:2])[..., None]
    woven = whole(source + weave)
    steps = [whole(source + weave * left) for left in (1.0, 0.8, 0.5, 0.25)]
    probe = texture_loss(chain([woven, *steps])).probes["texture"]
    assert list(probe.values()) == pytest.approx([1.0, 0.8, 0.5, 0.25], abs=0.04)


def test_a_loss_under_noise_is_found_all_the_same() -> None:
    assert found(texture_loss(planted(lambda pixels, step: static(soft(pixels, step), step)))) == FROM


def test_less_contrast_is_no_loss_of_texture() -> None:
    assert found(texture_loss(planted(lambda pixels, step: whole(128 + 0.6 * (pixels - 128.0))))) is None


def test_where_outlines_are_gone_too_it_is_another_failure() -> None:
    fog = np.full_like(astronaut(), 128)
    assert found(texture_loss(planted(lambda pixels, step: whole(0.02 * pixels + 0.98 * fog)))) is None


def test_a_picture_without_texture_does_not_let_one_tell() -> None:
    plain = np.full((256, 256, 3), 128, np.uint8)
    cv2.circle(plain, (128, 128), 60, (200, 60, 60), -1, cv2.LINE_AA)
    result = texture_loss(chain([plain, *[soft(plain, 1)] * 4]))
    assert result.cannot_tell
    assert not result.findings
