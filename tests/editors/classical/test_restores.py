"""Each classical restorer repairs what it is for, and leaves a clean photograph nearly as it is."""

from __future__ import annotations

import numpy as np
import pytest

from tests.editors.classical.spoiling import PHOTOGRAPHS, blurred, noisy, photograph, psnr, restored, scratched

FLOORS = {
    "non-local-means": 33.0,
    "bilateral": 36.0,
    "unsharp": 24.0,
    "richardson-lucy": 26.0,
    "wiener": 26.0,
    "scratch-inpaint": 30.0,
    "restore-classical": 28.0,
}
"""PSNR in dB that a clean photograph keeps at least; the design note has the figures over more of them."""


@pytest.mark.parametrize("photo", PHOTOGRAPHS)
@pytest.mark.parametrize(("name", "gain"), [("non-local-means", 2.5), ("bilateral", 2.5), ("restore-classical", 2.0)])
def test_noise_is_taken_off(name: str, gain: float, photo: str) -> None:
    clean = photograph(photo)
    spoilt = noisy(clean, 15)
    assert psnr(clean, restored(name, spoilt)) > psnr(clean, spoilt) + gain


@pytest.mark.parametrize("photo", PHOTOGRAPHS)
@pytest.mark.parametrize("psf", ["gauss:1.5", "disk:3", "line:11@30"])
@pytest.mark.parametrize("name", ["richardson-lucy", "wiener"])
def test_a_known_blur_is_undone(name: str, psf: str, photo: str) -> None:
    clean = photograph(photo)
    spoilt = blurred(clean, psf)
    assert psnr(clean, restored(name, spoilt, psf=psf)) > psnr(clean, spoilt) + 1.0


@pytest.mark.parametrize("name", ["richardson-lucy", "wiener"])
def test_the_wrong_blur_helps_less_than_the_right_one(name: str) -> None:
    clean = photograph("astronaut")
    spoilt = blurred(clean, "line:11@30")
    right, wrong = (psnr(clean, restored(name, spoilt, psf=psf)) for psf in ("line:11@30", "line:11@120"))
    assert right > wrong + 3


@pytest.mark.parametrize("psf", ["disk:4", "line:13@60", "gauss:1.6"])
@pytest.mark.parametrize("name", ["richardson-lucy", "wiener"])
def test_an_unknown_blur_is_found_and_undone(name: str, psf: str) -> None:
    clean = photograph("astronaut", 512)
    spoilt = blurred(clean, psf, 1.5)
    assert psnr(clean, restored(name, spoilt)) > psnr(clean, spoilt) + 0.8


@pytest.mark.parametrize("name", ["richardson-lucy", "wiener"])
def test_an_edge_does_not_ring_far_beyond_its_own_two_sides(name: str) -> None:
    """A blur that is twice as wide as the true one rings; it is held to a third of the step."""
    edge = np.full((96, 96, 3), 80, np.uint8)
    edge[:, 48:] = 160
    seen = restored(name, blurred(edge, "disk:3", 0.5), psf="disk:6").astype(int)
    assert seen.min() >= 80 - 0.3 * 80 - 6
    assert seen.max() <= 160 + 0.3 * 80 + 6
    assert np.abs(seen[:, :30] - 80).max() <= 6


def test_the_unsharp_mask_makes_a_soft_picture_sharper() -> None:
    clean = photograph("astronaut")
    spoilt = blurred(clean, "gauss:1.2", 0)
    assert psnr(clean, restored("unsharp", spoilt)) > psnr(clean, spoilt) + 0.5


@pytest.mark.parametrize("tone", [245, 8], ids=["bright", "dark"])
@pytest.mark.parametrize("name", ["scratch-inpaint", "restore-classical"])
def test_scratches_and_dust_are_filled(name: str, tone: int) -> None:
    clean = photograph("coffee")
    spoilt, _ = scratched(clean, 3, tone)
    assert psnr(clean, restored(name, spoilt)) > psnr(clean, spoilt) + 2


@pytest.mark.parametrize("photo", PHOTOGRAPHS)
@pytest.mark.parametrize("name", FLOORS)
def test_a_clean_photograph_is_left_nearly_as_it_is(name: str, photo: str) -> None:
    clean = photograph(photo)
    assert psnr(clean, restored(name, clean)) > FLOORS[name]
