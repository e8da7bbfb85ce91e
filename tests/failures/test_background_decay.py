"""Background decay: fresh things on a picture that wears out."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from convergebench.failures._freshness import freshness
from convergebench.failures.background_decay import background_decay
from convergebench.failures.base import Examination
from convergebench.images.frame import Frame
from tests.failures.chains import APPLE, COPY, NOISE, asked, picture, simulated

BLUR: list[dict[str, Any]] = [{"kind": "blur", "sigma": 0.9}]


def apples(count: int, **options: Any) -> Examination:
    return background_decay(simulated([asked(APPLE, "add", **options) for _ in range(count)]))


@pytest.mark.parametrize("additions", ["plain", "fresh"])
def test_fresh_apples_on_a_table_that_gets_noisy_are_found(additions: str) -> None:
    (finding,) = apples(6, wear=NOISE, additions=additions).findings
    assert finding.step in (3, 4)
    assert finding.detail.startswith("grain")
    assert finding.confidence > 0.6
    assert finding.region is not None
    assert finding.region.width < 0.6


def test_sharp_apples_on_a_table_that_gets_soft_are_found() -> None:
    (finding,) = apples(8, wear=BLUR, additions="fresh").findings
    assert finding.detail.startswith("width of edges")


@pytest.mark.parametrize("wear", [NOISE, BLUR])
def test_apples_as_worn_as_the_table_are_no_failure(wear: list[dict[str, Any]]) -> None:
    """The whole picture decays, new things with it: other detectors speak of that."""
    assert apples(7, wear=wear, additions="worn").findings == ()


def test_a_picture_that_does_not_decay_is_no_failure() -> None:
    assert apples(5).findings == ()


def test_the_probes_are_told_inside_and_outside() -> None:
    probes = apples(5, wear=NOISE).probes
    outside, inside = probes["grain-outside"], probes["grain-inside"]
    assert outside[5] > 1.8 * outside[1]
    assert inside[5] < 1.2 * inside[1]


def test_two_additions_are_too_few() -> None:
    assert "3 are needed" in apples(2, wear=NOISE).cannot_tell


def test_a_chain_of_copies_adds_nothing_to_compare() -> None:
    assert background_decay(simulated([asked(COPY, "replicate")])).does_not_apply


@pytest.mark.parametrize("sigma", [1.2, 2.0])
def test_the_width_of_an_edge_is_the_blur_it_went_through(sigma: float) -> None:
    board = np.full((128, 128, 3), 60, np.uint8)
    board[:, 64:] = 190
    soft = np.asarray(cv2.GaussianBlur(board, (0, 0), sigma), np.uint8)
    found = freshness(Frame(soft), np.ones((32, 32), np.bool_)).edge
    assert found == pytest.approx(np.hypot(sigma, 0.7), rel=0.2)


@pytest.mark.parametrize("sigma", [2.0, 6.0])
def test_grain_is_in_proportion_to_the_noise(sigma: float) -> None:
    chance = np.random.default_rng(3)
    noisy = np.clip(np.rint(128 + chance.normal(0, sigma, (256, 256, 1)).repeat(3, axis=2)), 0, 255).astype(np.uint8)
    found = freshness(Frame(noisy), np.ones((64, 64), np.bool_)).grain
    # the mean of |x| is 0.8 σ, and the calmest tenth of blocks of 64 pixels lies a sixth below that
    assert found == pytest.approx(0.66 * sigma, rel=0.05)


def test_grain_hardly_minds_texture() -> None:
    grain = freshness(Frame(picture()), np.ones((96, 96), np.bool_)).grain
    assert grain is not None
    assert grain < 1
