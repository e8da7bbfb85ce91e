from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from PIL import Image
from skimage import data

from convergebench.errors import Unmeasurable
from convergebench.images.align import align
from convergebench.images.frame import Frame, Pixels
from convergebench.images.pairs import KEPT, paired
from convergebench.images.registration import register


def _photograph(name: str, width: int, height: int) -> Pixels:
    return np.ascontiguousarray(getattr(data, name)()[:height, :width, :3])


def _view(pixels: Pixels, box: tuple[float, float, float, float], size: tuple[int, int]) -> Pixels:
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS, box=box))


def _rmse(x: Frame, y: Frame) -> float:
    return float(np.sqrt(np.mean((x.pixels.astype(float) - y.pixels) ** 2)))


@pytest.mark.parametrize("mode", ["strict", "fit", "crop-aware"])
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


def test_pairs_are_worked_out_once_and_forgotten_in_time() -> None:
    reference = Frame(_photograph("coffee", 64, 48))
    calls: list[int] = []
    subject = Frame(_photograph("coffee", 64, 48))
    for _ in range(2):
        assert paired(subject, reference, "key", lambda: calls.append(1) or 7) == 7  # type: ignore[func-returns-value]
    assert calls == [1]
    pixels = _photograph("coffee", 64, 48)
    gone = weakref.ref(pixels)
    paired(Frame(pixels), reference, "key", lambda: 0)
    del pixels
    for _ in range(KEPT):
        paired(Frame(_photograph("coffee", 64, 48)), reference, "key", lambda: 0)
    gc.collect()
    assert gone() is None
