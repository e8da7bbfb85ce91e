from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from skimage import color

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Pixels
from convergebench.metrics import SETS
from convergebench.metrics.operations import GEOMETRIC
from convergebench.types import Operation
from tests.metrics.pictures import box_blur, jpeg, measured, noisy, photograph, tinted, with_disc

AGAINST_PARENT = ("crop", "shift-x", "shift-y", "scale", "cast-a", "cast-b", "side-effect")
ALONE = (
    "returned-width",
    "returned-height",
    "noise",
    "sharpness",
    "saturation",
    "blockiness",
    "high-frequency",
    "palette",
)


def _view(pixels: Pixels, box: tuple[float, float, float, float], size: tuple[int, int]) -> Pixels:
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS, box=box))


def test_the_two_lists_here_are_all_diagnostics() -> None:
    assert set(AGAINST_PARENT) | set(ALONE) == set(SETS["diagnostics"])


@pytest.mark.parametrize("name", AGAINST_PARENT)
def test_nothing_changed_means_the_self_value(name: str) -> None:
    picture = photograph("astronaut")
    assert measured(name, picture.copy(), picture) == (1.0 if name == "scale" else 0.0)


@pytest.mark.parametrize("name", AGAINST_PARENT)
def test_a_change_needs_a_parent(name: str) -> None:
    with pytest.raises(Unmeasurable) as caught:
        measured(name, photograph("astronaut"), None)
    assert caught.value.status == "no-reference"


@pytest.mark.parametrize("name", ALONE)
def test_what_an_image_has_of_itself_needs_no_parent(name: str) -> None:
    assert np.isfinite(measured(name, photograph("coffee"), None))


def test_returned_size_is_the_size_as_it_came() -> None:
    parent = photograph("coffee", 320, 240)
    subject = _view(parent, (0, 0, 320, 240), (160, 121))
    assert measured("returned-width", subject, parent) == 160
    assert measured("returned-height", subject, parent) == 121


def test_a_known_crop_in_height_is_found() -> None:
    parent = photograph("astronaut", 448, 244)  # the paper's 5632×3072 → 1408×752, scaled down
    subject = _view(parent, (0, 2, 448, 242), (224, 120))
    assert measured("crop", subject, parent) == pytest.approx(4 / 244, abs=0.003)
    assert measured("scale", subject, parent) == pytest.approx(0.5, abs=0.002)
    assert measured("shift-y", subject, parent) == pytest.approx(0, abs=0.2)


@pytest.mark.parametrize(("x", "y"), [(9, -6), (-3, 4), (0, 1)])
def test_a_known_shift_is_found(x: int, y: int) -> None:
    whole = photograph("astronaut", 420, 350)
    parent, subject = whole[20:320, 20:400], whole[20 - y : 320 - y, 20 - x : 400 - x]
    assert measured("shift-x", np.ascontiguousarray(subject), parent) == pytest.approx(x, abs=0.15)
    assert measured("shift-y", np.ascontiguousarray(subject), parent) == pytest.approx(y, abs=0.15)


def test_an_added_object_noise_and_tint_do_not_pull() -> None:
    parent = photograph("chelsea", 400, 300)
    subject = noisy(tinted(with_disc(parent), 20, 10, -10), 12)
    assert abs(measured("shift-x", subject, parent)) < 0.15
    assert abs(measured("shift-y", subject, parent)) < 0.15
    assert measured("scale", subject, parent) == pytest.approx(1, abs=0.002)


@pytest.mark.parametrize("operation", list(GEOMETRIC))
def test_a_turned_image_is_held_against_the_turned_parent(operation: Operation) -> None:
    parent = photograph("astronaut", 320, 256)
    turned = jpeg(np.ascontiguousarray(GEOMETRIC[operation](parent)), 60)
    assert abs(measured("shift-x", turned, parent, operation=operation)) < 0.2
    assert measured("crop", turned, parent, operation=operation) < 0.003


def test_an_image_that_was_not_turned_as_asked_is_held_against_the_parent_as_it_was() -> None:
    parent = photograph("astronaut", 320, 256)
    assert abs(measured("shift-x", jpeg(parent, 60), parent, operation="flip-horizontal")) < 0.2


def test_another_picture_is_unaligned_and_one_grey_is_featureless() -> None:
    for subject, status in ((photograph("coffee"), "unaligned"), (np.full((256, 320, 3), 90, np.uint8), "featureless")):
        with pytest.raises(Unmeasurable) as caught:
            measured("crop", subject, photograph("chelsea"))
        assert caught.value.status == status


@pytest.mark.parametrize("sigma", [2.0, 8.0, 25.0])
def test_noise_of_known_strength_is_measured(sigma: float) -> None:
    grain = np.random.default_rng(3).normal(0, sigma, (300, 300, 1))
    grey = np.clip(np.rint(128 + grain), 0, 255).astype(np.uint8).repeat(3, axis=2)
    assert measured("noise", grey, None) == pytest.approx(sigma, rel=0.05)


def test_noise_of_a_photograph_rises_with_noise_and_falls_with_blur() -> None:
    picture = photograph("astronaut")
    blurred, plain, grainy = (
        measured("noise", each, None) for each in (box_blur(picture, 5), picture, noisy(picture, 10))
    )
    assert blurred < plain < grainy


@pytest.mark.parametrize("name", ["sharpness", "high-frequency"])
def test_detail_falls_with_blur_and_rises_with_noise(name: str) -> None:
    picture = photograph("coffee")
    levels = (box_blur(picture, 9), box_blur(picture, 3), picture, noisy(picture, 15), noisy(picture, 40))
    values = [measured(name, each, None) for each in levels]
    assert values == sorted(values)


def test_high_frequency_of_white_noise_is_the_share_of_the_plane() -> None:
    grain = np.random.default_rng(0).integers(0, 256, (256, 256, 1), dtype=np.uint8).repeat(3, axis=2)
    assert measured("high-frequency", grain, None) == pytest.approx(1 - np.pi * 0.25**2, abs=0.02)


def test_high_frequency_of_a_wave_is_all_or_nothing() -> None:
    for cycles, share in ((0.1, 0.0), (0.4, 1.0)):
        wave = 128 + 100 * np.sin(2 * np.pi * cycles * np.arange(240))
        stripes = np.rint(wave)[None, :, None].repeat(200, 0).repeat(3, 2).astype(np.uint8)
        assert measured("high-frequency", stripes, None) == pytest.approx(share, abs=0.01)


def test_cast_is_the_change_of_mean_lab() -> None:
    parent = photograph("chelsea")
    greener = tinted(parent, 0, 25, 0)
    assert measured("cast-a", greener, parent) < -5
    assert measured("cast-b", tinted(parent, 0, 0, 40), parent) < -5
    change = color.rgb2lab(greener).mean((0, 1)) - color.rgb2lab(parent).mean((0, 1))
    assert measured("cast-a", greener, parent) == pytest.approx(change[1], abs=1e-3)
    assert measured("cast-b", greener, parent) == pytest.approx(change[2], abs=1e-3)


def test_saturation_is_zero_for_grey_and_the_mean_chroma_else() -> None:
    picture = photograph("astronaut")
    grey = picture[..., :1].repeat(3, axis=2)
    assert measured("saturation", grey, None) == pytest.approx(0, abs=0.02)
    chroma = np.hypot(*np.moveaxis(color.rgb2lab(picture), -1, 0)[1:]).mean()
    assert measured("saturation", picture, None) == pytest.approx(chroma, abs=1e-3)


def test_blockiness_is_one_without_blocks_and_grows_with_compression() -> None:
    picture = photograph("coffee")
    plain, mild, hard = (measured("blockiness", each, None) for each in (picture, jpeg(picture, 40), jpeg(picture, 8)))
    assert plain == pytest.approx(1, abs=0.15)
    assert plain < mild < hard
    assert measured("blockiness", np.full((64, 64, 3), 7, np.uint8), None) == 1


def test_palette_counts_colours_at_five_bits() -> None:
    colours = np.array([[0, 0, 0], [7, 7, 7], [8, 0, 0], [0, 8, 0], [0, 0, 255]], dtype=np.uint8)
    assert measured("palette", np.tile(colours, (4, 1, 1)), None) == 4
    ramp = np.arange(256, dtype=np.uint8)[None, :, None].repeat(3, axis=2)
    assert measured("palette", ramp, None) == 32


@pytest.mark.parametrize("name", ["noise", "blockiness", "high-frequency"])
def test_an_image_too_small_to_tell_says_so(name: str) -> None:
    with pytest.raises(Unmeasurable) as caught:
        measured(name, np.zeros((4, 4, 3), np.uint8), None)
    assert caught.value.status == "too-small"


@pytest.mark.parametrize("name", ["astronaut", "coffee", "chelsea"])
def test_an_object_alone_has_hardly_a_side_effect_and_a_tint_has_its_own(name: str) -> None:
    parent = photograph(name, 384, 300)
    alone = measured("side-effect", with_disc(parent), parent, operation="add")
    assert alone < 0.25
    worn = measured("side-effect", tinted(with_disc(parent), 0, 12, 0), parent, operation="add")
    tint = measured("side-effect", tinted(parent, 0, 12, 0), parent, operation="add")
    assert worn == pytest.approx(tint, rel=0.15)
    assert worn > 10 * alone


@pytest.mark.parametrize("operation", GEOMETRIC)
def test_an_exact_turn_has_no_side_effect(operation: Operation) -> None:
    parent = photograph("coffee", 320, 200)
    turned = np.ascontiguousarray(GEOMETRIC[operation](parent))
    assert measured("side-effect", turned, parent, operation=operation) == 0


def test_a_side_effect_is_not_measured_across_sizes() -> None:
    parent = photograph("coffee", 320, 200)
    with pytest.raises(Unmeasurable) as caught:
        measured("side-effect", photograph("coffee", 160, 100), parent, operation="add")
    assert caught.value.status == "size"


def test_images_of_many_sizes_leave_little_behind() -> None:
    from convergebench.metrics.diagnostics.high_frequency import _masks

    for side in (32, 40, 48, 56, 64, 72):
        measured("high-frequency", photograph("astronaut", side, 64), None)
    assert _masks.cache_info().currsize <= 4
