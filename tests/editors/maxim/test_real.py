"""The real networks against what the packages' own runtime made of their own pictures.

Each package ships a picture and the result of UpscalerJS on TensorFlow. That runtime fills a picture up with black at
the bottom and at the right, and rounds down; with both set alike, what comes out is the same but for single values
that lie on the edge between two levels. Three of the results came about otherwise: two were cut out of a larger picture
at another place, and are compared where they show the same; one was mirrored at its sides, as MAXIM's authors do it.
"""

from __future__ import annotations

import asyncio

import cv2
import numpy as np
import pytest

from convergebench.editors.maxim.editor import MaximEditor
from convergebench.images.decode import decode
from convergebench.images.frame import Pixels
from convergebench.registry import load
from convergebench.types import EditRequest
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import search

ALIKE = ("denoising", "deraining", "retouching", "dehazing-outdoor")
SHIFTED = ("deblurring", "enhancement")


def answer(task: str, **options: object) -> tuple[Pixels, Pixels]:
    """(what comes out, what should); skips the test where the weights are not here."""
    found = search(find_weight(f"maxim-{task}"))
    if found is None:
        pytest.skip(f"the weights are not here; type: cbench weights fetch maxim-{task}")
    editor: MaximEditor = load("editors", f"maxim-{task}")(f"maxim-{task}", **options)

    async def once() -> bytes:
        data = (found.path / "fixture.png").read_bytes()
        return (await editor.edit(EditRequest(data, "image/png", ""))).image

    return decode(asyncio.run(once())).pixels, decode((found.path / "result.png").read_bytes(), alpha="white").pixels


def decibels(one: Pixels, other: Pixels) -> float:
    return float(10 * np.log10(255**2 / np.mean((one.astype(float) - other) ** 2)))


@pytest.mark.slow
@pytest.mark.parametrize("task", ALIKE)
def test_the_package_s_own_result_is_met(task: str) -> None:
    found, expected = answer(task, padding="zeros", rounding="down")
    assert decibels(found, expected) > 70
    assert np.mean(found != expected) < 0.001


@pytest.mark.slow
@pytest.mark.parametrize("task", SHIFTED)
def test_the_package_s_own_result_is_met_at_another_place(task: str) -> None:
    found, expected = answer(task, padding="zeros", rounding="down")
    middle = found[found.shape[0] // 2 - 30 :, found.shape[1] // 2 - 30 :][:110, :110]
    alike = cv2.matchTemplate(expected, middle, cv2.TM_CCOEFF_NORMED)
    assert alike.max() > 0.99


@pytest.mark.slow
def test_the_package_s_own_result_is_met_with_mirrored_sides() -> None:
    """Black ones leave it at 18 dB: what is beside the picture counts for all of it."""
    found, expected = answer("dehazing-indoor")
    assert decibels(found, expected) > 40


@pytest.mark.slow
def test_rounded_to_the_nearest_it_is_half_a_level_away() -> None:
    found, expected = answer("denoising")
    assert 50 < decibels(found, expected) < 52


@pytest.mark.slow
def test_in_tiles_it_is_another_picture() -> None:
    """The network looks at the whole picture, so tiles are no way to save memory without a price."""
    found, expected = answer("denoising", tile=64, rounding="down")
    assert 30 < decibels(found, expected) < 45
