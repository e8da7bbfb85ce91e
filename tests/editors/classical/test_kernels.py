"""The two deconvolutions beside scikit-image's, with the same point spread function."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from convergebench.editors.classical.luminance import luminance
from convergebench.editors.classical.psf import read_psf
from convergebench.editors.classical.richardson_lucy import corrected, rounds_for
from convergebench.editors.classical.wiener import balance_for, divided
from tests.editors.classical.spoiling import blurred, photograph

restoration: Any = importlib.import_module("skimage.restoration")
PSFS = ["gauss:1.5", "disk:3", "line:11@30"]


@pytest.mark.parametrize("psf", PSFS)
def test_richardson_lucy_equals_scikit_image_away_from_the_edges(psf: str) -> None:
    """scikit-image's pictures end in black, ours repeat; ten rounds reach ten kernels inwards."""
    plane = luminance(blurred(photograph("astronaut"), psf))
    kernel = read_psf(psf).kernel()
    ours = corrected(plane, kernel, 3)
    theirs = restoration.richardson_lucy(plane, kernel, num_iter=3, clip=False)
    inside = np.s_[48:-48, 48:-48]
    np.testing.assert_allclose(ours[inside], theirs[inside], atol=2e-4)


@pytest.mark.parametrize("balance", [0.003, 0.1])
@pytest.mark.parametrize("psf", PSFS)
def test_wiener_equals_scikit_image_everywhere(psf: str, balance: float) -> None:
    plane = luminance(blurred(photograph("astronaut"), psf))
    kernel = read_psf(psf).kernel()
    theirs = restoration.wiener(plane, kernel, balance, clip=False)
    np.testing.assert_allclose(divided(plane, kernel, balance), theirs, atol=1e-3)


def test_a_lopsided_kernel_is_undone_the_right_way_round() -> None:
    plane = luminance(photograph("astronaut"))
    kernel = np.zeros((5, 5), np.float32)
    kernel[1:3, 2:5] = [[0.3, 0.2, 0.1], [0.25, 0.1, 0.05]]
    inside = np.s_[48:-48, 48:-48]
    theirs = restoration.richardson_lucy(plane, kernel, num_iter=3, clip=False)
    np.testing.assert_allclose(corrected(plane, kernel, 3)[inside], theirs[inside], atol=2e-4)
    np.testing.assert_allclose(
        divided(plane, kernel, 0.1), restoration.wiener(plane, kernel, 0.1, clip=False), atol=1e-3
    )


def test_noise_makes_both_more_cautious() -> None:
    levels = [noise / 255 for noise in (0.5, 3, 10, 40)]
    rounds, balances = [rounds_for(one) for one in levels], [balance_for(one) for one in levels]
    assert rounds == sorted(rounds, reverse=True)
    assert balances == sorted(balances)
    assert 1 <= rounds[-1] < rounds[0]
