from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, ImageFilter
from skimage import data

from convergebench.errors import Unmeasurable
from convergebench.images.align import align
from convergebench.images.frame import Frame, Pixels
from convergebench.images.pair_cache import KEPT, per_pair
from convergebench.images.registration import register
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item


def _photograph(name: str, width: int, height: int) -> Pixels:
    return np.ascontiguousarray(getattr(data, name)()[:height, :width, :3])


def _view(pixels: Pixels, box: tuple[float, float, float, float], size: tuple[int, int]) -> Pixels:
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS, box=box))


def _rmse(x: Frame, y: Frame) -> float:
    return float(np.sqrt(np.mean((x.pixels.astype(float) - y.pixels) ** 2)))


@pytest.mark.parametrize("mode", ["auto", "strict", "fit", "crop-aware"])
def test_equal_images_are_handed_through_untouched(mode: str) -> None:
    subject, reference = Frame(_photograph("coffee", 300, 200)), Frame(_photograph("coffee", 300, 200))
    aligned = align(subject, reference, mode)  # type: ignore[arg-type]
    assert aligned.subject is subject
    assert aligned.reference is reference


def test_strict_names_both_sizes() -> None:
    subject, reference = Frame(np.zeros((752, 1408, 3), np.uint8)), Frame(np.zeros((1024, 1024, 3), np.uint8))
    with pytest.raises(Unmeasurable, match="1408×752 vs 1024×1024") as caught:
        align(subject, reference, "strict")
    assert caught.value.status == "size"


def test_fit_is_pillows_lanczos_and_records_the_ratio() -> None:
    reference = Frame(_photograph("astronaut", 300, 200))
    subject = Frame(_view(reference.pixels, (0, 0, 300, 200), (150, 160)))
    aligned = align(subject, reference, "fit")
    assert aligned.subject.size == reference.size
    assert aligned.detail == {"ratio_x": 2.0, "ratio_y": 1.25}
    expected = Image.fromarray(subject.pixels).resize((300, 200), Image.Resampling.LANCZOS)
    assert (aligned.subject.pixels == np.asarray(expected)).all()
    assert align(subject, reference, "fit").subject is aligned.subject


def test_the_papers_crop_in_height_and_reduction_is_undone() -> None:
    # 5632×3072 → 1408×752 at a twelfth of the size: the aspect goes from 0.545 to 0.534, by a crop
    reference = Frame(_photograph("astronaut", 469, 256))
    high = 469 * 0.534
    top = (256 - high) / 2
    subject = Frame(_view(reference.pixels, (0, top, 469, top + high), (235, 125)))
    aligned = align(subject, reference, "crop-aware")
    assert aligned.detail["crop"] == pytest.approx(1 - high / 256, abs=0.004)
    assert aligned.detail["scale_x"] == pytest.approx(235 / 469, abs=0.002)
    assert aligned.subject.size == aligned.reference.size
    assert aligned.reference.height in (250, 251)
    squeezed = align(subject, reference, "fit")
    assert _rmse(*aligned[:2]) < 0.7 * _rmse(*squeezed[:2])


@pytest.mark.parametrize(("x", "y"), [(7, -5), (-12, 3), (0, 8)])
def test_a_whole_pixel_shift_is_cut_out_without_resampling(x: int, y: int) -> None:
    whole = _photograph("coffee", 440, 340)
    reference = Frame(np.ascontiguousarray(whole[20:320, 20:420]))
    subject = Frame(np.ascontiguousarray(whole[20 - y : 320 - y, 20 - x : 420 - x]))
    aligned = align(subject, reference, "crop-aware")
    assert aligned.detail["shift_x"] == pytest.approx(x, abs=0.1)
    assert aligned.detail["shift_y"] == pytest.approx(y, abs=0.1)
    assert aligned.subject.size == (400 - abs(x), 300 - abs(y))
    assert (aligned.subject.pixels == aligned.reference.pixels).all()


@pytest.mark.parametrize("name", ["astronaut", "coffee", "chelsea", "rocket"])
@pytest.mark.parametrize("zoom", [0.85, 0.95, 1.05, 1.2])
def test_a_known_zoom_is_found(name: str, zoom: float) -> None:
    whole = _photograph(name, 420, 300)
    reference = Frame(np.ascontiguousarray(whole[40:260, 50:370]))
    half_width, half_height = 160 / zoom, 110 / zoom
    subject = Frame(
        _view(whole, (210 - half_width, 150 - half_height, 210 + half_width, 150 + half_height), (320, 220))
    )
    aligned = align(subject, reference, "crop-aware")
    assert aligned.detail["scale_x"] == pytest.approx(zoom, rel=0.005)
    assert aligned.detail["scale_y"] == pytest.approx(zoom, rel=0.005)
    assert aligned.detail["crop"] == pytest.approx(max(0.0, 1 - 1 / zoom**2), abs=0.006)
    assert aligned.detail["confidence"] > 0.95


def test_a_squeeze_of_one_axis_is_found() -> None:
    reference = Frame(_photograph("chelsea", 400, 300))
    subject = Frame(_view(reference.pixels, (0, 0, 400, 300), (400, 288)))
    found = register(subject, reference)
    assert found.scale_x == pytest.approx(1, abs=0.002)
    assert found.scale_y == pytest.approx(0.96, abs=0.002)
    assert found.crop < 0.002


def test_less_than_a_quarter_pixel_is_left_alone() -> None:
    reference = Frame(_photograph("astronaut", 400, 300))
    subject = Frame(_view(reference.pixels, (0.1, 0.1, 400, 300), (400, 300)))
    aligned = align(subject, reference, "crop-aware")
    assert aligned.subject is subject
    assert aligned.reference is reference


def test_different_pictures_are_not_forced_together() -> None:
    with pytest.raises(Unmeasurable, match=r"correlation -?0\.\d\d after registration, 0\.55 needed") as caught:
        align(Frame(_photograph("coffee", 400, 300)), Frame(_photograph("chelsea", 400, 300)), "crop-aware")
    assert caught.value.status == "unaligned"


def test_one_grey_has_nothing_to_hold_on_to() -> None:
    with pytest.raises(Unmeasurable) as caught:
        align(Frame(np.full((200, 300, 3), 40, np.uint8)), Frame(_photograph("chelsea", 300, 200)), "crop-aware")
    assert caught.value.status == "featureless"


def test_a_reference_cut_the_same_way_twice_is_one_frame() -> None:
    whole = _photograph("coffee", 420, 320)
    reference = Frame(np.ascontiguousarray(whole[:300, :400]))
    subjects = [Frame(np.ascontiguousarray(whole[8:308, 8:408])) for _ in range(2)]
    first, second = (align(subject, reference, "crop-aware") for subject in subjects)
    assert first.reference is second.reference


def _worn(pixels: Pixels, seed: int) -> Pixels:
    """One step of an editor that blurs a little and adds a little noise."""
    blurred = Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(0.4))
    noise = np.random.default_rng(seed).normal(0, 2, pixels.shape)
    return np.clip(np.asarray(blurred) + noise, 0, 255).round().astype(np.uint8)


def _ssim(subject: Frame, reference: Frame) -> float:
    (reading,) = load_metric("ssim").measure([Item(subject, reference)])
    assert reading.value is not None
    return reading.value


SIZES: dict[str, Callable[[Pixels], Pixels]] = {
    "8 pixels off the right": lambda pixels: pixels[:, :-8],
    "8 pixels off the left": lambda pixels: pixels[:, 8:],
    "8 pixels off the right and the bottom": lambda pixels: pixels[:-8, :-8],
    "4 pixels off all around": lambda pixels: pixels[4:-4, 4:-4],
}


@pytest.mark.parametrize("name", ["astronaut", "coffee", "chelsea", "rocket"])
@pytest.mark.parametrize("lost", SIZES)
def test_under_auto_a_chain_that_loses_8_pixels_a_step_scores_as_if_it_kept_its_size(name: str, lost: str) -> None:
    original = _photograph(name, 440, 340)
    reference, shrinking, keeping = Frame(original), original, original
    for step in range(1, 21):
        shrinking = np.ascontiguousarray(SIZES[lost](_worn(shrinking, step)))
        keeping = _worn(keeping, step)
        if step in (1, 2, 10, 20):
            aligned = align(Frame(shrinking), reference, "auto")
            assert aligned.done == "registered"
            assert aligned.subject.size == (shrinking.shape[1], shrinking.shape[0]), "cut out, not resampled"
            # the truth on the same area: what was cut away may have been easier or harder than the rest
            (box,) = _boxes(aligned.reference, original)
            truth = _ssim(Frame(np.ascontiguousarray(keeping[box])), aligned.reference)
            assert _ssim(aligned.subject, aligned.reference) == pytest.approx(truth, abs=0.01)


def _boxes(part: Frame, whole: Pixels) -> list[tuple[slice, slice]]:
    """Where a part was cut out of the whole, pixel for pixel."""
    height, width = part.height, part.width
    return [
        (slice(top, top + height), slice(left, left + width))
        for top in range(whole.shape[0] - height + 1)
        for left in range(whole.shape[1] - width + 1)
        if (whole[top, left : left + width] == part.pixels[0]).all()
        and (whole[top : top + height, left : left + width] == part.pixels).all()
    ]


@pytest.mark.parametrize("size", [(504, 336), (506, 341), (504, 338), (520, 347)])
def test_under_auto_a_resized_image_scores_as_when_it_is_resized_back(size: tuple[int, int]) -> None:
    reference = Frame(_view(_photograph("coffee", 600, 400), (0, 0, 600, 400), (512, 341)))
    subject = Frame(_view(reference.pixels, (0, 0, 512, 341), size))
    aligned = align(subject, reference, "auto")
    assert aligned.done == "registered"
    assert aligned.reference.size == reference.size
    assert _ssim(*aligned[:2]) == pytest.approx(_ssim(*align(subject, reference, "fit")[:2]), abs=0.002)


def test_under_auto_equal_sizes_are_never_moved() -> None:
    whole = _photograph("coffee", 420, 320)
    subject, reference = (Frame(np.ascontiguousarray(whole[y : y + 300, y : y + 400])) for y in (9, 0))
    aligned = align(subject, reference, "auto")
    assert aligned.describe() == ""
    assert aligned == (subject, reference, {}, "as-is")


@pytest.mark.parametrize(
    "subject",
    [
        np.full((190, 300, 3), 90, np.uint8),
        _photograph("coffee", 300, 190),
        np.ascontiguousarray(_photograph("chelsea", 300, 200)[60:140, 100:200]),  # well kept, but a seventh of it
    ],
    ids=["one grey", "another picture", "one corner"],
)
def test_under_auto_what_cannot_be_laid_over_is_stretched_so_that_the_damage_counts(subject: Pixels) -> None:
    reference = Frame(_photograph("chelsea", 300, 200))
    aligned = align(Frame(subject), reference, "auto")
    assert aligned.done == "resampled"
    assert aligned.describe().startswith("resampled: ratio x ")
    assert aligned.subject.size == reference.size
    assert _ssim(*aligned[:2]) < 0.7


def test_a_border_that_was_added_is_cut_off_under_auto() -> None:
    reference = Frame(_photograph("astronaut", 400, 300))
    subject = Frame(np.pad(reference.pixels, ((6, 10), (12, 12), (0, 0)), mode="edge"))
    aligned = align(subject, reference, "auto")
    assert (aligned.subject.pixels == aligned.reference.pixels).all()
    assert aligned.reference is reference


def test_a_crop_to_half_of_a_picture_is_found_wherever_it_lies() -> None:
    whole = _photograph("chelsea", 440, 300)
    for left, top in ((0, 0), (140, 90), (60, 10)):
        subject = Frame(np.ascontiguousarray(whole[top : top + 210, left : left + 300]))
        found = register(subject, Frame(whole))
        assert found.scale == pytest.approx(1, abs=0.01)
        assert found.shift_x == pytest.approx(220 - 150 - left, abs=0.6)
        assert found.shift_y == pytest.approx(150 - 105 - top, abs=0.6)


def test_pairs_are_worked_out_once_and_forgotten_in_time() -> None:
    reference = Frame(_photograph("coffee", 64, 48))
    calls: list[int] = []
    subject = Frame(_photograph("coffee", 64, 48))
    for _ in range(2):
        assert per_pair(subject, reference, "key", lambda: calls.append(1) or 7) == 7  # type: ignore[func-returns-value]
    assert calls == [1]
    pixels = _photograph("coffee", 64, 48)
    gone = weakref.ref(pixels)
    per_pair(Frame(pixels), reference, "key", lambda: 0)
    del pixels
    for _ in range(KEPT):
        per_pair(Frame(_photograph("coffee", 64, 48)), reference, "key", lambda: 0)
    gc.collect()
    assert gone() is None
