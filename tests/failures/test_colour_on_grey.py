"""Colours on a picture that was black and white are proposed; tones are not, nor colours that had only faded."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from benchmarks.planted._inventions import painted_colours, painted_thing
from convergebench.failures.colour_on_grey import colour_on_grey, is_grey
from convergebench.images.frame import Frame, Pixels
from tests.failures.planted import chain, whole
from tests.failures.restored import astronaut, cup, degraded, grey, overlap, put, restoration, seen


def _toned(pixels: Pixels) -> Pixels:
    return whole(grey(pixels) * np.array([1.05, 0.95, 0.75]))


def _with_noise(pixels: Pixels) -> Pixels:
    return whole(pixels + np.random.default_rng(1).normal(0, 10, pixels.shape))


def _faded(pixels: Pixels) -> Pixels:
    return whole(128 + (grey(pixels) + (pixels - grey(pixels).astype(np.float32)) * 0.15 - 128) * 0.7)


@pytest.mark.parametrize(
    "given",
    [grey(astronaut()), _toned(astronaut()), _with_noise(grey(astronaut())), degraded("old-photo-grey")],
    ids=["grey", "toned", "coloured noise", "old photo"],
)
def test_colours_on_a_grey_or_toned_picture_are_found(given: Pixels) -> None:
    examination = colour_on_grey(restoration(given, astronaut()))
    assert seen(examination) is not None
    assert 0.1 < examination.probes["coloured-share"][1] < 1


def test_one_painted_thing_is_found_at_its_place() -> None:
    changed = put(painted_thing, grey(cup()))
    found = seen(colour_on_grey(restoration(grey(cup()), changed.pixels)))
    assert found is not None
    assert overlap(found, changed.place, cup()) > 0.8


@pytest.mark.parametrize("given", [grey(astronaut()), _toned(astronaut())], ids=["grey", "toned"])
def test_grey_results_and_results_of_another_tone_are_not(given: Pixels) -> None:
    for result in (grey(astronaut()), _toned(astronaut()), _with_noise(grey(astronaut()))):
        assert seen(colour_on_grey(restoration(given, result))) is None


def test_a_picture_with_colours_is_none_of_its_business() -> None:
    for name in ("old-photo-colour", "mixed", "digital-zoom"):
        assert colour_on_grey(restoration(degraded(name), astronaut())).does_not_apply, name
    assert colour_on_grey(chain([grey(astronaut())] * 4)).does_not_apply


def test_faded_colours_that_are_brought_back_are_not_invented() -> None:
    faded = _faded(astronaut())
    examination = colour_on_grey(restoration(faded, astronaut()))
    assert not examination.findings


def test_the_clean_picture_s_own_colours_are_right_and_others_are_wrong() -> None:
    given = degraded("old-photo-grey")
    assert seen(colour_on_grey(restoration(given, astronaut(), clean=astronaut()))) is None
    wrong = put(painted_colours, grey(astronaut())).pixels
    assert seen(colour_on_grey(restoration(given, wrong, clean=astronaut()))) is not None
    assert seen(colour_on_grey(restoration(given, wrong, clean=grey(astronaut())))) is not None


def test_results_of_another_size_and_small_pictures_are_examined() -> None:
    larger = np.asarray(cv2.resize(astronaut(), (500, 500)), np.uint8)
    assert seen(colour_on_grey(restoration(grey(astronaut()), larger))) is not None
    small = np.asarray(cv2.resize(astronaut(), (72, 72), interpolation=cv2.INTER_AREA), np.uint8)
    assert seen(colour_on_grey(restoration(grey(small), small))) is not None


@pytest.mark.parametrize("level", [0, 128, 255])
def test_a_plain_picture_is_grey(level: int) -> None:
    plain = np.full((80, 80, 3), level, np.uint8)
    assert is_grey(Frame(plain))
    assert seen(colour_on_grey(restoration(plain, plain))) is None
