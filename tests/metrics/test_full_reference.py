from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.metrics.full_reference.delta_e import ciede2000
from tests.metrics import peers
from tests.metrics.pictures import box_blur, hashed, jpeg, measured, noisy, photograph, tinted

ALL = ("psnr", "rmse", "ssim", "ssim-skimage", "ms-ssim", "gmsd", "delta-e")
SELF = {"psnr": inf, "rmse": 0.0, "ssim": 1.0, "ssim-skimage": 1.0, "ms-ssim": 1.0, "gmsd": 0.0, "delta-e": 0.0}
SMALLEST = {"psnr": 1, "rmse": 1, "ssim": 11, "ssim-skimage": 7, "ms-ssim": 161, "gmsd": 4, "delta-e": 1}

small_pictures = arrays(np.uint8, (13, 15, 3), elements=st.integers(0, 255))


@pytest.mark.parametrize("name", ALL)
def test_equal_images_have_the_value_that_the_facts_state(name: str) -> None:
    board = np.indices((210, 230)).sum(axis=0)[..., None].repeat(3, axis=2) % 2 * 255
    for picture in (photograph("astronaut"), photograph("astronaut", 230, 210), np.asarray(board, np.uint8)):
        assert measured(name, picture.copy(), picture) == SELF[name]
    stated = load_metric(name).facts.self_value
    assert stated == (None if SELF[name] == inf else SELF[name])


@pytest.mark.parametrize("name", ALL)
def test_subject_and_reference_may_change_places(name: str) -> None:
    x, y = photograph("astronaut"), jpeg(photograph("astronaut"), 15)
    assert measured(name, y, x) == pytest.approx(measured(name, x, y), rel=1e-6)


# GMSD sees no colour that leaves edges alone
DAMAGE = [
    (name, damage) for name in ALL for damage in ("jpeg", "blur", "noise", "tint") if (name, damage) != ("gmsd", "tint")
]


@pytest.mark.parametrize(("name", "damage"), DAMAGE)
def test_more_damage_is_worse(name: str, damage: str) -> None:
    picture = photograph("chelsea")
    makers: dict[str, list[Callable[[Pixels], Pixels]]] = {
        "jpeg": [partial(jpeg, quality=quality) for quality in (90, 40, 10)],
        "blur": [partial(box_blur, side=side) for side in (3, 7, 15)],
        "noise": [partial(noisy, sigma=sigma) for sigma in (3, 12, 40)],
        "tint": [partial(tinted, red=shift, green=0, blue=-shift) for shift in (5, 20, 60)],
    }
    values = [measured(name, make(picture), picture) for make in makers[damage]]
    sign = 1 if load_metric(name).facts.better == "higher" else -1
    assert sign * values[0] > sign * values[1] > sign * values[2]


@pytest.mark.parametrize("name", ALL)
def test_values_stay_in_the_stated_range(name: str) -> None:
    low, high = load_metric(name).facts.range
    x = photograph("coffee")
    for y in (255 - x, np.zeros_like(x), np.full_like(x, 255), hashed(x, 255)):
        assert low <= measured(name, np.ascontiguousarray(y), x) <= high


@pytest.mark.parametrize("name", ALL)
def test_sizes_are_never_fixed_quietly(name: str) -> None:
    reading = load_metric(name).measure(
        [Item(Frame(np.zeros((200, 200, 3), np.uint8)), Frame(np.zeros((200, 201, 3), np.uint8)))]
    )[0]
    assert (reading.value, reading.status, reading.detail) == (None, "size", "200×200 vs 201×200")


@pytest.mark.parametrize("name", ALL)
def test_without_a_reference_there_is_no_value(name: str) -> None:
    with pytest.raises(Unmeasurable, match="no image to compare with") as caught:
        measured(name, photograph("astronaut"), None)
    assert caught.value.status == "no-reference"


@pytest.mark.parametrize("name", ALL)
def test_the_smallest_size_works_and_the_one_below_says_too_small(name: str) -> None:
    side = SMALLEST[name]
    picture = photograph("astronaut")[:side, : side + 3]
    assert np.isfinite(measured(name, tinted(picture, 9, 3, 1), picture))
    if side > 1:
        below = photograph("astronaut")[: side - 1, :]
        with pytest.raises(Unmeasurable) as caught:
            measured(name, below, below)
        assert caught.value.status == "too-small"


def test_a_frame_refuses_other_types_and_shapes() -> None:
    for pixels in (np.zeros((8, 8, 3)), np.zeros((8, 8), np.uint8), np.zeros((8, 8, 4), np.uint8)):
        with pytest.raises(ValueError, match="height × width × 3 in 8 bit"):
            Frame(pixels)  # type: ignore[arg-type]


@given(small_pictures, small_pictures)
@settings(max_examples=40, deadline=None)
def test_psnr_and_rmse_are_the_textbook_formulas(x: Pixels, y: Pixels) -> None:
    error = float(np.mean((x.astype(float) - y) ** 2))
    assert measured("rmse", y, x) == pytest.approx(np.sqrt(error) / 255, abs=1e-12)
    if error:
        assert measured("psnr", y, x) == pytest.approx(10 * np.log10(255**2 / error), abs=1e-9)


@given(small_pictures, small_pictures)
@settings(max_examples=40, deadline=None)
def test_ssim_skimage_is_scikit_image_to_the_last_digits(x: Pixels, y: Pixels) -> None:
    assert measured("ssim-skimage", y, x) == pytest.approx(peers.ssim_default(x, y), abs=1e-9)


@given(small_pictures, small_pictures)
@settings(max_examples=40, deadline=None)
def test_ssim_is_scikit_image_with_the_published_window(x: Pixels, y: Pixels) -> None:
    # white next to white is where float32 has the fewest digits left for a variance
    assert measured("ssim", y, x) == pytest.approx(peers.ssim_published(x, y), abs=1e-4)


@given(small_pictures, small_pictures)
@settings(max_examples=40, deadline=None)
def test_delta_e_is_scikit_images_ciede2000(x: Pixels, y: Pixels) -> None:
    assert measured("delta-e", y, x) == pytest.approx(peers.delta_e(x, y), abs=1e-3)


def test_ciede2000_gives_the_published_test_values() -> None:
    # Sharma et al. 2005, table 1: pairs 1, 4, 7, 9, 13, 17, 18, 25
    first = [(50, 2.6772, -79.7751), (50, -1.3802, -84.2814), (50, 0, 0), (50, 2.49, -0.001), (50, -0.001, 2.49),
             (50, 2.5, 0), (50, 2.5, 0), (60.2574, -34.0099, 36.2677)]  # fmt: skip
    second = [(50, 0, -82.7485), (50, 0, -82.7485), (50, -1, 2), (50, -2.49, 0.0009), (50, 0.0009, -2.49),
              (73, 25, -18), (61, -5, 29), (60.4626, -34.1751, 39.4387)]  # fmt: skip
    published = [2.0425, 1.0, 2.3669, 7.1792, 4.8045, 27.1492, 22.8977, 1.2644]
    planes = [list(np.array(side, dtype=np.float32).T) for side in (first, second)]
    assert ciede2000(planes[0], planes[1]) == pytest.approx(published, abs=2e-3)


def test_a_negative_factor_of_ms_ssim_counts_as_nothing() -> None:
    """A negative agrees with its positive in no scale; four negative factors must not make a value again."""
    x = photograph("astronaut")
    assert measured("ms-ssim", 255 - x, x) == 0.0


def test_ssim_shares_its_work_with_ms_ssim_and_gives_the_same_alone() -> None:
    x, y = photograph("astronaut"), jpeg(photograph("astronaut"), 30)
    item = Item(Frame(y), Frame(x))
    multi, single = load_metric("ms-ssim"), load_metric("ssim")
    assert multi.measure([item])[0].value == measured("ms-ssim", y, x)
    assert single.measure([item])[0].value == measured("ssim", y, x)


def test_ssim_of_a_large_image_is_the_same_in_bands() -> None:
    x = np.tile(photograph("coffee"), (3, 1, 1))
    y = box_blur(x, 3)
    assert measured("ssim", y, x) == pytest.approx(peers.ssim_published(x, y), abs=2e-6)


def test_one_metric_that_cannot_be_had_leaves_the_rest_of_the_batch() -> None:
    picture = photograph("astronaut")
    items = [Item(Frame(picture), Frame(picture)), Item(Frame(picture)), Item(Frame(picture), Frame(picture))]
    assert [reading.status for reading in load_metric("ssim").measure(items)] == ["ok", "no-reference", "ok"]
