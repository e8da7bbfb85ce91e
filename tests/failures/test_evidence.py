"""Evidence: what is cut out of a picture to show a failure, and what of the source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convergebench.failures.base import Box, ChainView, StepView
from convergebench.failures.evidence import cut_evidence
from convergebench.images.decode import decode
from convergebench.images.frame import Frame


def chain_of(*pictures: np.ndarray[Any, np.dtype[np.uint8]], **more: Any) -> ChainView:
    steps = [
        StepView(index, (lambda one: lambda: Frame(one))(pixels), **(more if index else {}))
        for index, pixels in enumerate(pictures)
    ]
    return ChainView("editor", "case", "source", "variant", "family", steps)


def noise(height: int, width: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def crop(data: bytes | None) -> np.ndarray[Any, np.dtype[np.uint8]]:
    assert data is not None
    return decode(data).pixels


def test_a_crop_is_cut_at_native_pixels_with_room_around_it() -> None:
    source, picture = noise(1000, 800), noise(1000, 800, 1)
    found = cut_evidence(chain_of(source, picture), 1, Box(0.25, 0.5, 0.25, 0.2))
    assert np.array_equal(crop(found.after), picture[450:750, 150:450])
    assert np.array_equal(crop(found.before), source[450:750, 150:450])


@pytest.mark.parametrize(
    ("region", "shape"),
    [
        (Box(0.5, 0.5, 0.001, 0.001), (96, 96)),
        (Box(0.98, 0.0, 0.02, 0.02), (96, 96)),
        (None, (512, 512)),
        (Box(0.0, 0.4, 1.0, 0.1), (150, 512)),
    ],
)
def test_a_crop_is_neither_too_small_nor_too_large(region: Box | None, shape: tuple[int, int]) -> None:
    assert crop(cut_evidence(chain_of(noise(1000, 900), noise(1000, 900)), 1, region).after).shape[:2] == shape


def test_a_small_picture_is_shown_whole() -> None:
    assert crop(cut_evidence(chain_of(noise(40, 30), noise(40, 30)), 1, Box(0.1, 0.1, 0.1, 0.1)).after).shape == (
        40,
        30,
        3,
    )


def test_the_source_is_turned_as_the_picture_should_lie() -> None:
    source = noise(300, 400)
    turned = np.ascontiguousarray(np.rot90(source, -1))
    found = cut_evidence(chain_of(source, turned, orientation="rotate-90"), 1, Box(0.6, 0.1, 0.2, 0.2))
    assert np.array_equal(crop(found.before), crop(found.after))


def test_a_source_of_another_size_is_brought_to_the_crops_and_one_of_another_shape_left_out() -> None:
    source = np.repeat(np.repeat(noise(100, 200), 4, 0), 4, 1)
    found = cut_evidence(chain_of(source, noise(200, 400)), 1, Box(0.5, 0.5, 0.25, 0.5))
    assert crop(found.before).shape == crop(found.after).shape
    assert cut_evidence(chain_of(noise(300, 400), noise(300, 300)), 1, None).before is None


def test_a_flip_that_nobody_compares_has_no_source_beside_it() -> None:
    chain = chain_of(noise(100, 100), noise(100, 100), operation="flip-horizontal", compared="no")
    assert cut_evidence(chain, 1, None).before is None
