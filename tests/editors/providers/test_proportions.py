"""Sizes that are asked for: within bounds, in the picture's aspect, and at rest once they have been asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.editors.providers.proportions import AllowedSizes, aspect_ratio, nearest_size, requested_size
from convergebench.errors import StudyError
from convergebench.types import Settings
from tests.editors.providers.trying import plain

FLUX = AllowedSizes(shortest=64, most=4 * 1024**2, step=16)
SEEDREAM = AllowedSizes(least=3_686_400, most=16_777_216)
QWEN = AllowedSizes(shortest=512, longest=2048, most=4_194_304)
HOSTED_SEEDREAM = AllowedSizes(least=3_686_400, longest=4096, most=16_777_216)
SIDES = st.integers(100, 5000)


@pytest.mark.parametrize("allowed", [FLUX, SEEDREAM, QWEN, HOSTED_SEEDREAM])
@given(width=SIDES, height=SIDES)
def test_a_size_is_within_bounds_and_stays_when_it_comes_back(allowed: AllowedSizes, width: int, height: int) -> None:
    asked = nearest_size(width / height, width * height, allowed)
    assert all(allowed.shortest <= side <= allowed.longest and side % allowed.step == 0 for side in asked)
    assert asked[0] * asked[1] <= allowed.most
    assert asked[0] * asked[1] >= allowed.least
    assert nearest_size(asked[0] / asked[1], asked[0] * asked[1], allowed) == asked


@given(width=st.integers(512, 2048), height=st.integers(512, 2048))
def test_a_size_that_is_allowed_is_asked_for_as_it_is(width: int, height: int) -> None:
    assert nearest_size(width / height, width * height, QWEN) == (width, height)


@given(width=st.integers(500, 3000), height=st.integers(500, 3000))
def test_the_aspect_is_kept_as_well_as_the_grid_allows(width: int, height: int) -> None:
    asked = nearest_size(width / height, width * height, FLUX)
    assert asked[0] / asked[1] == pytest.approx(width / height, rel=16 / min(asked))


def test_a_picture_that_is_too_narrow_for_both_bounds_gives_up_its_aspect() -> None:
    assert nearest_size(10.0, 100_000, QWEN) == (2048, 512)


def test_a_picture_that_is_too_wide_for_its_pixels_gives_up_its_aspect() -> None:
    assert nearest_size(10.0, 1e6, HOSTED_SEEDREAM) == (4096, 900)


def test_settings_go_before_the_picture_s_own_size() -> None:
    image = plain(300, 200)
    assert requested_size(image, Settings(resolution="1K", aspect="1:1"), AllowedSizes()) == (1024, 1024)
    assert requested_size(image, Settings(aspect="2:3"), AllowedSizes()) == (200, 300)
    assert requested_size(image, Settings(), AllowedSizes()) == (300, 200)


def test_a_resolution_is_one_of_a_few_words() -> None:
    with pytest.raises(StudyError, match="1K, 2K"):
        requested_size(plain(300, 200), Settings(resolution="8K"), AllowedSizes())


def test_an_aspect_is_two_numbers() -> None:
    assert aspect_ratio("16:9") == pytest.approx(16 / 9)
    for odd in ("wide", "1:0", "16", ""):
        with pytest.raises(StudyError, match="16:9"):
            aspect_ratio(odd)
