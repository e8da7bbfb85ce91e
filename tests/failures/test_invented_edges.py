"""Lines and letters that the degraded picture does not support are proposed; sharper edges are not."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from benchmarks.planted._inventions import letters, lines
from benchmarks.planted._restorers import RESTORERS
from convergebench.failures.invented_edges import invented_edges
from tests.failures.planted import chain
from tests.failures.restored import astronaut, degraded, overlap, put, restoration, seen
from tests.metrics.pictures import resized

BLURRED = ("defocus-blur", "motion-blur", "digital-zoom", "mixed")


@pytest.mark.parametrize("degradation", [*BLURRED, "old-film", "old-photo-colour"])
def test_the_sharp_edges_of_the_clean_picture_are_not_invented(degradation: str) -> None:
    given = degraded(degradation)
    assert seen(invented_edges(restoration(given, astronaut()))) is None
    assert seen(invented_edges(restoration(given, astronaut(), clean=astronaut()))) is None


@pytest.mark.parametrize("restorer", ["median", "unsharp", "deconvolved"])
def test_sharpening_invents_no_edges(restorer: str) -> None:
    for degradation in ("defocus-blur", "surveillance", "old-film"):
        given = degraded(degradation)
        result = RESTORERS[restorer](given)
        assert result is not None
        assert seen(invented_edges(restoration(given, result))) is None, degradation


@pytest.mark.parametrize("make", [lines, letters])
@pytest.mark.parametrize("known", [False, True])
def test_lines_and_letters_are_found_at_their_place(make: object, known: bool) -> None:
    assert callable(make)
    for degradation in ("defocus-blur", "old-photo-grey", "mixed"):
        changed = put(make, astronaut())
        clean = astronaut() if known else None
        found = seen(invented_edges(restoration(degraded(degradation), changed.pixels, clean=clean)))
        assert found is not None, degradation
        assert overlap(found, changed.place, astronaut()) > 0.6, degradation


def test_letters_of_the_clean_picture_are_not_invented_however_blurred_they_were() -> None:
    clean = put(letters, astronaut()).pixels
    given = np.asarray(degraded("mixed"))
    assert seen(invented_edges(restoration(given, clean, clean=clean))) is None
    assert seen(invented_edges(restoration(given, clean))) is not None


def test_scratches_that_are_taken_away_are_no_edges_of_the_result() -> None:
    scratched = astronaut().copy()
    for column in (60, 130, 210):
        scratched[:, column : column + 2] = 250
    assert seen(invented_edges(restoration(scratched, astronaut()))) is None


def test_a_larger_result_is_compared_at_the_size_of_the_input() -> None:
    changed = put(letters, astronaut())
    larger = np.asarray(cv2.resize(changed.pixels, (640, 640), interpolation=cv2.INTER_CUBIC), np.uint8)
    found = seen(invented_edges(restoration(degraded("digital-zoom"), larger)))
    assert found is not None
    assert overlap(found, changed.place, astronaut()) > 0.6


def test_a_tiny_picture_cannot_be_told_and_a_chain_of_edits_is_none_of_its_business() -> None:
    tiny = resized(astronaut(), 40, 40)
    assert invented_edges(restoration(tiny, tiny)).cannot_tell
    assert invented_edges(chain([astronaut()] * 4)).does_not_apply
