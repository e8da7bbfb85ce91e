"""What lies around an addition: the thing itself costs nothing, wear of the rest costs what it would by itself."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
import pytest

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item


def table(seed: int = 0) -> np.ndarray:
    """A soft picture with some structure everywhere."""
    noise = np.random.default_rng(seed).uniform(60, 180, (24, 32, 3)).astype(np.float32)
    return np.clip(cv2.resize(noise, (256, 192), interpolation=cv2.INTER_CUBIC), 0, 255).astype(np.uint8)


def with_apples(pixels: np.ndarray, count: int) -> np.ndarray:
    drawn = pixels.copy()
    for number in range(count):
        cv2.circle(drawn, (40 + 58 * number, 120), 16, (250, 10, 10), -1)
    return drawn


def value(name: str, subject: np.ndarray, reference: np.ndarray) -> float:
    (reading,) = load_metric(name).measure([Item(Frame(subject), Frame(reference))])
    assert reading.value is not None, reading
    return reading.value


def worn(pixels: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(7).normal(0, 9, pixels.shape)
    return np.clip(pixels + noise, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("apples", [1, 2, 4])
def test_what_was_added_is_not_held_against_the_rest(apples: int) -> None:
    clean = table()
    added = with_apples(clean, apples)
    assert value("background-ssim", added, clean) > 0.995
    assert value("background-delta-e", added, clean) < 0.15
    assert value("ssim", added, clean) < value("background-ssim", added, clean)


def test_wear_of_the_rest_counts_as_much_as_without_the_thing() -> None:
    clean = table()
    alone, beside = value("ssim", worn(clean), clean), value("background-ssim", worn(with_apples(clean, 3)), clean)
    assert beside == pytest.approx(alone, abs=0.02)
    colour = value("delta-e", worn(clean), clean)
    assert value("background-delta-e", worn(with_apples(clean, 3)), clean) == pytest.approx(colour, rel=0.1)


def test_the_changed_share_grows_with_every_thing() -> None:
    clean = table()
    shares = [value("changed-share", with_apples(clean, count), clean) for count in range(5)]
    assert shares[0] == 0
    assert all(later > earlier for earlier, later in pairwise(shares))


def test_an_untouched_picture_has_lost_nothing() -> None:
    clean = table()
    assert value("background-ssim", clean, clean) == 1
    assert value("background-delta-e", clean, clean) == 0


def test_without_a_reference_there_is_nothing_around() -> None:
    with pytest.raises(Unmeasurable):
        load_metric("background-ssim")(Item(Frame(table())))  # type: ignore[operator]
