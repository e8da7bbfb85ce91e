"""Structure that the degraded picture contradicts is proposed; what a restoration may do is not."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from benchmarks.planted._inventions import bent_shape, foreign_thing
from benchmarks.planted._restorers import RESTORERS
from convergebench.failures.structure_change import structure_change
from tests.failures.planted import chain
from tests.failures.restored import astronaut, cup, degraded, grey, overlap, put, restoration, seen
from tests.metrics.pictures import jpeg, resized

ALL = (
    *("defocus-blur", "motion-blur", "digital-zoom", "old-film", "old-photo-grey", "old-photo-colour"),
    *("surveillance", "mixed"),
)
FILTERS = ("median", "unsharp", "deconvolved")


@pytest.mark.parametrize("degradation", ALL)
def test_the_clean_picture_is_an_honest_restoration_with_and_without_being_known(degradation: str) -> None:
    given = degraded(degradation)
    assert seen(structure_change(restoration(given, astronaut()))) is None
    assert seen(structure_change(restoration(given, astronaut(), clean=astronaut()))) is None


@pytest.mark.parametrize("restorer", FILTERS)
def test_filters_change_no_structure(restorer: str) -> None:
    for degradation in ("motion-blur", "old-photo-grey", "mixed"):
        given = degraded(degradation)
        result = RESTORERS[restorer](given)
        assert result is not None
        assert seen(structure_change(restoration(given, result))) is None, degradation


@pytest.mark.parametrize("degradation", ALL)
def test_a_thing_put_in_is_found_at_its_place(degradation: str) -> None:
    changed = put(foreign_thing([cup()]), astronaut())
    found = seen(structure_change(restoration(degraded(degradation), changed.pixels)))
    assert found is not None
    assert overlap(found, changed.place, astronaut()) > 0.6


@pytest.mark.parametrize("known", [False, True])
def test_a_bent_shape_is_found_at_its_place(known: bool) -> None:
    changed = put(bent_shape, astronaut())
    clean = astronaut() if known else None
    found = seen(structure_change(restoration(degraded("mixed"), changed.pixels, clean=clean)))
    assert found is not None
    assert overlap(found, changed.place, astronaut()) > 0.6


def test_another_picture_altogether_is_found() -> None:
    other = np.ascontiguousarray(astronaut()[::-1, ::-1])
    assert seen(structure_change(restoration(degraded("mixed"), other))) is not None


def test_structure_of_the_clean_picture_is_no_failure_even_where_the_input_does_not_show_it() -> None:
    hidden = astronaut().copy()
    hidden[100:200, 60:180] = 128
    assert seen(structure_change(restoration(hidden, astronaut(), clean=astronaut()))) is None


def test_results_of_other_sizes_and_crops_are_compared_where_they_overlap() -> None:
    given = degraded("digital-zoom")
    for result in (resized(astronaut(), 240, 240), cv2.resize(astronaut(), (640, 640)), astronaut()[12:, 9:]):
        assert seen(structure_change(restoration(given, np.asarray(result, np.uint8)))) is None
    changed = put(foreign_thing([cup()]), astronaut())
    larger = np.asarray(cv2.resize(changed.pixels, (640, 640)), np.uint8)
    found = seen(structure_change(restoration(given, larger)))
    assert found is not None
    assert overlap(found, changed.place, astronaut()) > 0.6


def test_a_clean_picture_of_another_size_is_used_and_one_of_another_shape_is_not() -> None:
    given, changed = degraded("mixed"), put(foreign_thing([cup()]), astronaut())
    for clean in (resized(astronaut(), 200, 200), cup()):
        assert seen(structure_change(restoration(given, astronaut(), clean=clean))) is None
        assert seen(structure_change(restoration(given, changed.pixels, clean=clean))) is not None


def test_a_lighter_flatter_or_grey_result_has_the_same_structure() -> None:
    given = degraded("mixed")
    lighter = np.asarray(40 + astronaut() * 0.6, np.uint8)
    for result in (lighter, grey(astronaut()), jpeg(astronaut(), 30)):
        assert seen(structure_change(restoration(given, result))) is None


def test_of_several_rounds_the_first_that_shows_it_is_told_and_one_is_enough() -> None:
    given, changed = degraded("mixed"), put(foreign_thing([cup()]), astronaut())
    (finding,) = structure_change(restoration(given, astronaut(), changed.pixels, astronaut())).findings
    assert (finding.step, finding.last, finding.shown) == (2, 2, 2)


def test_a_tiny_picture_cannot_be_told_and_a_chain_of_edits_is_none_of_its_business() -> None:
    tiny = resized(astronaut(), 40, 40)
    assert structure_change(restoration(tiny, tiny)).cannot_tell
    assert structure_change(chain([astronaut()] * 4)).does_not_apply


@pytest.mark.parametrize("level", [0, 128, 255])
def test_a_plain_picture_has_no_structure_to_change(level: int) -> None:
    plain = np.full((96, 96, 3), level, np.uint8)
    assert seen(structure_change(restoration(plain, plain))) is None
    assert seen(structure_change(restoration(plain, plain, clean=plain))) is None
