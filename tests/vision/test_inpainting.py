"""Holes are filled with what goes with their surroundings, and nothing else changes."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from convergebench.errors import StudyError
from convergebench.vision.inpainting import _window, fill
from convergebench.vision.networks import Mask, Picture


def hole(shape: tuple[int, ...], top: int, left: int, height: int, width: int) -> Mask:
    mask = np.zeros(shape[:2], np.bool_)
    mask[top : top + height, left : left + width] = True
    return mask


def test_a_patch_on_the_wall_is_gone_and_the_rest_is_untouched(astronaut: Picture) -> None:
    marked = astronaut.copy()
    mask = hole(marked.shape, 20, 270, 90, 80)  # the wall between her and the rocket
    marked[mask] = (255, 0, 255)
    filled = fill(marked, mask)
    np.testing.assert_array_equal(filled[~mask], marked[~mask])
    before, after = astronaut[mask].astype(float), filled[mask].astype(float)
    assert np.abs(after.mean(0) - before.mean(0)).max() < 20  # the colour of the wall again
    assert np.abs(after - (255, 0, 255)).sum(1).min() > 100  # none of the patch is left
    # neither does what was in the hole matter, nor does another run
    np.testing.assert_array_equal(fill(astronaut, mask), filled)


def test_a_large_picture_is_filled_at_its_own_size(astronaut: Picture) -> None:
    """Of 1200 × 1600 pixels, with a hole that is larger than the network's square."""
    large = np.asarray(cv2.resize(astronaut, (1600, 1200), interpolation=cv2.INTER_CUBIC), np.uint8)
    mask = hole(large.shape, 100, 900, 700, 600)
    filled = fill(large, mask)
    assert filled.shape == large.shape
    np.testing.assert_array_equal(filled[~mask], large[~mask])
    assert (filled[mask] != large[mask]).any(-1).mean() > 0.9


def test_the_network_sees_the_hole_and_what_is_around_it() -> None:
    mask = hole((2000, 3000), 900, 1400, 100, 40)
    assert _window(mask) == (slice(694, 1206), slice(1164, 1676))  # 512 × 512 with the hole in its middle
    corner = hole((2000, 3000), 1900, 2900, 100, 100)
    assert _window(corner) == (slice(1488, 2000), slice(2488, 3000))
    huge = hole((2000, 3000), 500, 500, 800, 1000)
    assert _window(huge) == (slice(0, 2000), slice(0, 2000))
    assert _window(hole((300, 400), 10, 10, 20, 20)) == (slice(0, 300), slice(0, 400))


def test_without_a_hole_nothing_is_done(coffee: Picture) -> None:
    filled = fill(coffee, np.zeros(coffee.shape[:2], np.bool_))
    np.testing.assert_array_equal(filled, coffee)
    assert filled is not coffee


@pytest.mark.parametrize("shape", [(400, 601), (400, 600, 1)], ids=str)
def test_a_mask_of_another_size_is_refused(coffee: Picture, shape: tuple[int, ...]) -> None:
    with pytest.raises(StudyError, match="the mask must be a bool array of 400 × 600"):
        fill(coffee, np.zeros(shape, np.bool_))
    with pytest.raises(StudyError, match="the mask must be a bool array"):
        fill(coffee, np.zeros((400, 600), np.uint8))
