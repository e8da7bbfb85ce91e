"""Texture in calm places that the degraded picture would have shown is proposed; sharpened noise is not."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from benchmarks.planted._inventions import Maker, grain_texture, hair_texture, scale_texture
from benchmarks.planted._restorers import RESTORERS
from convergebench.failures.invented_texture import invented_texture
from convergebench.images.frame import Pixels
from tests.failures.planted import chain, static
from tests.failures.restored import astronaut, cup, degraded, grey, overlap, put, restoration, seen
from tests.metrics.pictures import resized


@pytest.mark.parametrize("degradation", ["defocus-blur", "motion-blur", "old-film", "old-photo-grey", "mixed"])
def test_the_clean_picture_has_no_invented_texture(degradation: str) -> None:
    given = degraded(degradation)
    assert seen(invented_texture(restoration(given, astronaut()))) is None
    assert seen(invented_texture(restoration(given, astronaut(), clean=astronaut()))) is None


@pytest.mark.parametrize("make", [grain_texture, hair_texture, scale_texture])
@pytest.mark.parametrize("known", [False, True])
def test_texture_in_a_calm_place_is_found_there(make: Maker, known: bool) -> None:
    for degradation in ("digital-zoom", "old-film"):
        changed = put(make, cup())
        found = seen(
            invented_texture(restoration(degraded(degradation, "cup"), changed.pixels, clean=cup() if known else None))
        )
        assert found is not None, degradation
        assert overlap(found, changed.place, cup()) > 0.6, degradation


@pytest.mark.parametrize("restorer", ["median", "unsharp", "deconvolved", "non-local-means"])
def test_noise_that_is_left_or_sharpened_is_the_input_s(restorer: str) -> None:
    given = static(cup(), 1)
    result = RESTORERS[restorer](given)
    assert result is not None
    assert seen(invented_texture(restoration(given, result))) is None
    assert seen(invented_texture(restoration(given, result, clean=cup()))) is None


def _blurred(pixels: Pixels) -> Pixels:
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), 4), np.uint8)


def test_texture_that_the_input_could_not_show_is_told_only_by_a_clean_picture() -> None:
    given, changed = _blurred(cup()), put(grain_texture, cup())
    assert seen(invented_texture(restoration(given, changed.pixels))) is None
    assert seen(invented_texture(restoration(given, changed.pixels, clean=cup()))) is not None


def test_texture_that_the_clean_picture_has_is_not_invented() -> None:
    clean = put(grain_texture, cup()).pixels
    assert seen(invented_texture(restoration(_blurred(clean), clean, clean=clean))) is None


def test_grey_pictures_and_larger_results_are_examined_too() -> None:
    given, changed = grey(degraded("old-film", "cup")), put(scale_texture, grey(cup()))
    larger = np.asarray(cv2.resize(changed.pixels, (768, 512), interpolation=cv2.INTER_CUBIC), np.uint8)
    for result in (changed.pixels, larger):
        found = seen(invented_texture(restoration(given, result)))
        assert found is not None
        assert overlap(found, changed.place, cup()) > 0.6


def test_a_tiny_picture_cannot_be_told_and_a_chain_of_edits_is_none_of_its_business() -> None:
    tiny = resized(astronaut(), 70, 70)
    assert invented_texture(restoration(tiny, tiny)).cannot_tell
    assert invented_texture(chain([astronaut()] * 4)).does_not_apply
