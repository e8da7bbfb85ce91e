"""`decay` notices that a picture was remade many times, whichever way that leads, and says what it cannot judge."""

from __future__ import annotations

import hashlib
import math

import cv2
import numpy as np
import pytest

from convergebench.errors import Prerequisite, Unmeasurable
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.metrics.no_reference import _decay_network
from convergebench.metrics.no_reference._decay_network import NUMBERS, POOLED, STRIDES, TILE, tile_places
from convergebench.metrics.no_reference._decay_tiles import LARGEST, at_scale
from convergebench.metrics.no_reference.decay import CHECKSUM, shipped_network, shipped_numbers
from convergebench.metrics.no_reference.decay_reading import DecayReading, decay_map, read_decay
from tests.metrics.pictures import jpeg, measured, noisy, photograph

COFFEE = photograph("coffee", 384, 320)
"""Of the pictures that nothing was learned from."""


def value(pixels: Pixels) -> float:
    return measured("decay", np.ascontiguousarray(pixels), None)


def moved_jpeg(pixels: Pixels, step: int) -> Pixels:
    shift = (3 * step % 8, 5 * step % 8)
    coded = jpeg(np.ascontiguousarray(np.roll(pixels, shift, (0, 1))), 55)
    return np.roll(coded, (-shift[0], -shift[1]), (0, 1))


def overdone(pixels: Pixels, step: int) -> Pixels:
    """Sharpened, more contrast, more colour: what many editors drift to."""
    values = pixels.astype(np.float32)
    values += 0.35 * (values - cv2.GaussianBlur(values, (0, 0), 1.5))
    return np.asarray(np.clip(np.rint(128 + 1.02 * (values - 128)), 0, 255), np.uint8)


def melted(pixels: Pixels, step: int) -> Pixels:
    return np.asarray(cv2.bilateralFilter(pixels, 5, 30, 1.6), np.uint8)


def grainy(pixels: Pixels, step: int) -> Pixels:
    return noisy(pixels, 2.5, seed=step)


def shrunk(pixels: Pixels, step: int) -> Pixels:
    height, width = pixels.shape[:2]
    small = cv2.resize(pixels, (round(width * 0.6), round(height * 0.6)), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


def soft_then_crisp(pixels: Pixels, step: int) -> Pixels:
    """The first answer is soft, as of an editor that enlarges; every later one is crisper than the one before."""
    return overdone(melted(shrunk(pixels, step) if step == 1 else pixels, step), step)


def worn(wear: object, steps: int) -> list[Pixels]:
    assert callable(wear)
    pictures = [COFFEE]
    for step in range(1, steps + 1):
        pictures.append(np.ascontiguousarray(wear(pictures[-1], step)))
    return pictures


@pytest.mark.parametrize("wear", [moved_jpeg, overdone, melted, grainy, shrunk, soft_then_crisp])
def test_wear_that_is_repeated_scores_worse(wear: object) -> None:
    pictures = worn(wear, 20)
    first, *later = (value(pictures[step]) for step in (1, 5, 10, 20))
    assert all(one > first for one in later), (first, later)


def half(pixels: Pixels) -> Pixels:
    size = (pixels.shape[1] // 2, pixels.shape[0] // 2)
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def tinted(pixels: Pixels) -> Pixels:
    return np.asarray(np.clip(pixels * np.array([1.1, 1.0, 0.85]) + 4, 0, 255), np.uint8)


@pytest.mark.parametrize("seen", [half, tinted, lambda pixels: pixels[:, ::-1], lambda pixels: jpeg(pixels, 85)])
def test_it_sees_the_same_order_at_half_the_size_and_in_another_tint(seen: object) -> None:
    assert callable(seen)
    pictures = worn(overdone, 10)
    scores = [value(np.ascontiguousarray(seen(pictures[step]))) for step in (1, 5, 10)]
    assert scores == sorted(scores), scores
    assert scores[2] - scores[0] > 20


def test_it_says_the_same_again_and_sees_only_pixels() -> None:
    assert value(COFFEE) == value(COFFEE.copy()) == value(np.asfortranarray(COFFEE))


def test_an_untouched_picture_is_far_from_a_ruined_one() -> None:
    assert value(COFFEE) < 50 < 80 < value(worn(soft_then_crisp, 20)[-1])


def test_pictures_under_64_pixels_are_too_small() -> None:
    with pytest.raises(Unmeasurable) as caught:
        value(COFFEE[:63, :100])
    assert caught.value.status == "too-small"
    assert math.isfinite(value(COFFEE[:64, :64]))


def test_grey_pictures_have_a_value_and_even_ones_a_reason() -> None:
    grey = np.repeat(COFFEE.mean(axis=2, keepdims=True), 3, axis=2).astype(np.uint8)
    ramp = np.repeat(np.repeat(np.arange(128, dtype=np.uint8)[None, :, None], 128, axis=0), 3, axis=2)
    assert math.isfinite(value(grey))
    assert math.isfinite(value(ramp))
    reading = load_metric("decay").measure([Item(Frame(np.full((80, 80, 3), 7, np.uint8)))])[0]
    assert (reading.value, reading.status) == (None, "featureless")


def test_the_numbers_are_those_of_this_version() -> None:
    facts = load_metric("decay").facts
    assert hashlib.sha256(NUMBERS.read_bytes()).hexdigest() == CHECKSUM
    assert CHECKSUM[:12] in facts.paper
    assert (facts.version, CHECKSUM[:12]) == (3, "4ce76fc33662"), (
        "other numbers are another version: raise it, then pin it here"
    )
    assert NUMBERS.stat().st_size < 5_000_000


def test_another_file_in_its_place_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Prerequisite, match="is not the file of this version; install the package again"):
        _decay_network.shipped_arrays("0" * 64)


def test_the_network_says_what_it_says_in_torch() -> None:
    torch = pytest.importorskip("torch")
    numbers = shipped_numbers()
    tile = np.ascontiguousarray(COFFEE[40 : 40 + TILE, 60 : 60 + TILE])
    data = torch.from_numpy(_decay_network.planes_of(tile)).permute(2, 0, 1)[None]
    pooled = []
    for place, stride in enumerate(STRIDES):
        kernel, bias = (torch.from_numpy(numbers[f"{name}-{place}"]) for name in ("kernel", "bias"))
        data = torch.relu(torch.nn.functional.conv2d(data, kernel, bias, stride=stride, padding=1))
        if place in POOLED:
            pooled += [data.mean((2, 3)), (data.var((2, 3), unbiased=False) + 1e-5).sqrt()]
    first, last = (
        [torch.from_numpy(numbers[f"{layer}-{part}"]) for part in ("weight", "bias")] for layer in ("hidden", "score")
    )
    hidden = torch.relu(torch.nn.functional.linear(torch.cat(pooled, 1), *first))
    expected = float(torch.nn.functional.linear(hidden, *last)[0, 0])
    assert shipped_network().wear(tile)[0] == pytest.approx(expected, abs=1e-4)


# Which tiles are looked at


def test_a_small_picture_is_looked_at_whole_and_a_large_one_evenly() -> None:
    assert tile_places(64, 200, 16) == [(0, 0), (0, 72)]
    whole = tile_places(512, 512, 16)
    assert {top for top, _ in whole} == {left for _, left in whole} == {0, 128, 256, 384}
    many = tile_places(1024, 1024, 16)
    assert len(many) == len(set(many)) == 16
    assert min(top for top, _ in many) < 256
    assert max(top for top, _ in many) > 1024 - 128 - 256


def test_no_picture_costs_more_than_sixteen_tiles() -> None:
    for height in (64, 100, 129, 200, 511, 900, 1224):
        for width in (64, 127, 300, 1000, 1224, 20000):
            places = tile_places(height, width, 16)
            assert 1 <= len(places) <= 16
            assert all(0 <= top <= max(0, height - TILE) and 0 <= left <= max(0, width - TILE) for top, left in places)


def test_very_large_pictures_are_reduced_to_a_megapixel() -> None:
    assert at_scale(COFFEE) is COFFEE
    large = np.zeros((2000, 1500, 3), np.uint8)
    assert large.shape[0] * large.shape[1] > LARGEST
    assert at_scale(large).shape[:2] == (1182, 887)


# What it says beyond the value


def test_more_remakings_read_as_more() -> None:
    readings = [read_decay(Frame(one)) for one in (COFFEE, worn(melted, 12)[-1])]
    few, many = (reading.remakings for reading in readings)
    assert few is not None
    assert many is not None
    assert few < many
    for reading in readings:
        assert reading.low is not None
        assert reading.high is not None
        assert reading.low <= (reading.remakings or 0) <= reading.high
        assert reading.value == value(COFFEE if reading is readings[0] else worn(melted, 12)[-1])


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        (DecayReading(10.0, 3.6, 1.0, 10.0), "about 4 remakings (95 %: 1–10)"),
        (DecayReading(10.0, 3.6, 1.0, 20.0), "about 4 remakings (95 %: 1–20 or more)"),
        (DecayReading(90.0, 20.0, 10.0, 20.0), "20 or more remakings (95 %: 10–20 or more)"),
        (DecayReading(150.0, 20.0, 20.0, 20.0), "20 or more remakings (95 %: 20 or more)"),
        (DecayReading(1.0, 1.2, 0.0, 5.0), "about 1 remaking (95 %: 0–5)"),
        (DecayReading(10.0, None, None, None), "unknown"),
    ],
)
def test_the_words_of_a_reading(reading: DecayReading, words: str) -> None:
    assert reading.words == words


def test_a_drawing_is_unknown_and_still_has_a_value() -> None:
    drawing = np.full((300, 300, 3), 240, np.uint8)
    cv2.circle(drawing, (150, 150), 90, (200, 30, 30), -1)
    cv2.putText(drawing, "no camera", (30, 280), cv2.FONT_HERSHEY_SIMPLEX, 1, (0, 0, 0), 2)
    reading = read_decay(Frame(drawing))
    assert reading.remakings is None
    assert reading.words == "unknown"
    assert math.isfinite(reading.value)


def test_the_map_shows_which_half_is_worn() -> None:
    both = COFFEE.copy()
    both[:, :192] = worn(soft_then_crisp, 15)[-1][:, :192]
    found = decay_map(Frame(both), 64)
    assert found.shape == (5, 6)
    assert np.nanmean(found[:, :2]) > np.nanmean(found[:, 4:]) + 30


def test_even_tiles_of_a_map_are_not_judged() -> None:
    sky = np.full((256, 512, 3), 200, np.uint8)
    sky[:, :256] = COFFEE[:256, :256]
    found = decay_map(Frame(sky), 128)
    assert found.shape == (2, 4)
    assert np.isnan(found[:, 3]).all()
    assert np.isfinite(found[:, :2]).all()
