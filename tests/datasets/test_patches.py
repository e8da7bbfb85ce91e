"""Patches lie where they should, in every step."""

from __future__ import annotations

import numpy as np
import pytest

from convergebench.datasets.patches import MOVED, PatchPlan, moved
from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.metrics.operations import GEOMETRIC

PIXELS = np.random.default_rng(0).integers(0, 256, (60, 90, 3), np.uint8)


def test_a_patch_is_what_the_picture_has_there() -> None:
    plan = PatchPlan(16, 5)
    for cut in plan.cuts(encode_png(PIXELS), plan.places("source", 90, 60), "a picture"):
        assert (decode(cut.png).pixels == PIXELS[cut.y : cut.y + 16, cut.x : cut.x + 16]).all()


def test_places_belong_to_the_source_and_the_seed() -> None:
    first = PatchPlan(16, 4, seed=1).places("source", 90, 60)
    assert PatchPlan(16, 4, seed=1).places("source", 90, 60) == first
    assert PatchPlan(16, 4, seed=2).places("source", 90, 60) != first
    assert PatchPlan(16, 4, seed=1).places("another", 90, 60) != first


def test_more_patches_begin_with_the_same_ones() -> None:
    assert PatchPlan(16, 8).places("source", 90, 60)[:3] == PatchPlan(16, 3).places("source", 90, 60)


@pytest.mark.parametrize("operation", GEOMETRIC)
def test_a_turned_picture_gives_the_same_patches_turned(operation: str) -> None:
    plan = PatchPlan(15, 6)
    places = plan.places("source", 90, 60)
    turn = GEOMETRIC[operation]  # type: ignore[index]
    turned = plan.cuts(encode_png(np.ascontiguousarray(turn(PIXELS))), moved(places, operation), "turned")
    for before, after in zip(plan.cuts(encode_png(PIXELS), places, "as it was"), turned, strict=True):
        assert (decode(after.png).pixels == turn(decode(before.png).pixels)).all()


def test_every_operation_that_moves_pixels_moves_places() -> None:
    assert MOVED.keys() == GEOMETRIC.keys()


def test_a_larger_picture_is_cut_at_the_same_share_without_resampling() -> None:
    plan = PatchPlan(10, 3)
    places = plan.places("source", 90, 60)
    large = encode_png(PIXELS.repeat(2, 0).repeat(2, 1))
    for small, cut in zip(plan.cuts(encode_png(PIXELS), places, ""), plan.cuts(large, places, ""), strict=True):
        assert decode(cut.png).pixels.shape == (10, 10, 3)
        assert abs((cut.x + 5) - 2 * (small.x + 5)) <= 1


def test_a_patch_may_be_as_large_as_the_picture_but_not_larger() -> None:
    (whole,) = PatchPlan(60, 1).cuts(encode_png(PIXELS[:, :60]), PatchPlan(60, 1).places("source", 60, 60), "")
    assert (whole.x, whole.y) == (0, 0)
    with pytest.raises(StudyError, match=r"--patches 61 does not fit a picture .*use --patches 60 or less"):
        PatchPlan(61).require_fitting((90, 60), "a picture")
