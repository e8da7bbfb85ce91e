"""`decay` notices wear that is repeated, in whichever direction it leads, and is exactly what was learned."""

from __future__ import annotations

import hashlib
import json
import math

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.metrics.no_reference._decay_features import picture_features
from convergebench.metrics.no_reference._decay_model import NUMBERS, from_document, shipped_model, soft_limited
from convergebench.metrics.no_reference.decay import CHECKSUM
from tests.metrics.pictures import jpeg, measured, noisy, photograph
from training.decay import sources
from training.decay.tables import read
from training.decay.train import TABLE, packed, training_rows

COFFEE = photograph("coffee", 280, 240)
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


@pytest.mark.parametrize("wear", [moved_jpeg, overdone, melted, grainy, shrunk])
def test_wear_that_is_repeated_scores_worse(wear: object) -> None:
    assert callable(wear)
    pixels, scores = COFFEE, {}
    for step in range(1, 21):
        pixels = np.ascontiguousarray(wear(pixels, step))
        if step in (1, 5, 10, 20):
            scores[step] = value(pixels)
    assert all(scores[step] > scores[1] for step in (5, 10, 20)), scores


def test_it_says_the_same_again_and_sees_only_pixels() -> None:
    assert value(COFFEE) == value(COFFEE.copy()) == value(np.asfortranarray(COFFEE))


def test_an_untouched_picture_is_far_from_a_ruined_one() -> None:
    ruined = noisy(COFFEE, 25)
    assert value(COFFEE) < 50 < value(ruined)


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
    assert (facts.version, CHECKSUM[:12]) == (1, "0e0d7a7b68a1"), (
        "other numbers are another version: raise it, then pin it here"
    )


def test_the_model_knows_its_features() -> None:
    model = shipped_model(CHECKSUM)
    assert set(model.names) <= set(picture_features(COFFEE))
    assert len(model.names) == len(model.centre) == len(model.signed) == len(model.either)


def test_features_far_out_count_ever_less_but_always_more() -> None:
    assert soft_limited(np.array([-3.0, 0.0, 4.9])).tolist() == [-3.0, 0.0, 4.9]
    far = soft_limited(np.array([-40.0, -20.0, 6.0, 20.0, 40.0, 1000.0]))
    assert (np.diff(far) > 0).all()
    assert far[4] == -far[0] < 16


@pytest.mark.slow
def test_the_numbers_are_what_learning_gives() -> None:
    made = from_document(json.loads(packed(read(TABLE))))
    model = shipped_model(CHECKSUM)
    assert made.names == model.names
    for column in ("centre", "spread", "signed", "either"):
        np.testing.assert_allclose(getattr(made, column), getattr(model, column), rtol=2e-3, atol=2e-4)


def test_nothing_is_learned_from_pictures_that_are_kept_for_judging() -> None:
    table = read(TABLE)
    rows = training_rows(table)
    judged = {sources.recipe(str(image)) for image in table.image[~rows]}
    assert judged == set(sources.JUDGED)
    assert not judged & {sources.recipe(str(image)) for image in table.image[rows]}


# Features against implementations of another kind


def luma(pixels: Pixels) -> NDArray[np.float64]:
    return np.asarray(pixels @ np.array([0.299, 0.587, 0.114]), np.float64)


def test_correlation_of_neighbours_beside_scipy() -> None:
    taps = np.exp(-np.square(np.arange(-3, 4)) / (2 * (7 / 6) ** 2))
    kernel = np.outer(taps, taps) / taps.sum() ** 2
    plane = luma(COFFEE)
    mean = ndimage.correlate(plane, kernel, mode="mirror")
    square = ndimage.correlate(plane**2, kernel, mode="mirror")
    local = (plane - mean) / (np.sqrt(np.maximum(square - mean**2, 0)) + 1)
    power = np.square(local).mean()
    across = sum(float(row[2:] @ row[:-2]) for row in local) / (local.shape[0] * (local.shape[1] - 2))
    down = sum(float(column[2:] @ column[:-2]) for column in local.T) / (local.shape[1] * (local.shape[0] - 2))
    assert picture_features(COFFEE)["shape-lag-2"] == pytest.approx((across + down) / 2 / power, abs=2e-3)


def test_the_upper_end_of_the_spectrum_beside_a_plain_transform() -> None:
    tile = COFFEE[64:128, 64:128].copy()
    plane = luma(tile)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(64) / 64)
    shaded = (plane - plane.mean()) * np.outer(window, window) / np.square(window).sum()
    waves = np.exp(-2j * np.pi * np.outer(np.arange(64), np.arange(64)) / 64)
    power = np.log(np.square(np.abs(waves @ shaded @ waves)) + 0.01)[:, :33]
    down = np.minimum(np.arange(64), 64 - np.arange(64))[:, None]
    radius = np.sqrt(down**2 + np.arange(33)[None, :] ** 2)
    expected = power[radius >= 32.5].mean() - power[(radius >= 25) & (radius < 32.5)].mean()
    assert picture_features(tile)["luma-corner"] == pytest.approx(expected, abs=1e-3)
