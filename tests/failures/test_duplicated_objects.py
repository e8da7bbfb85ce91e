"""Duplicated objects: a part of the picture a second time."""

from __future__ import annotations

import re

import numpy as np
import pytest

from convergebench.failures.duplicated_objects import duplicated_objects
from convergebench.images.frame import Pixels
from tests.failures.chains import APPLE, COPY, MIRROR, asked, drawn, picture, simulated


@pytest.mark.parametrize("kind", ["noise", "blur", "tint"])
def test_a_copy_is_found_from_the_step_that_made_it(kind: str) -> None:
    steps = [asked(COPY, "replicate", wear=[{"kind": kind}], duplicate_at=2) for _ in range(5)]
    (finding,) = duplicated_objects(simulated(steps, source=picture("motorcycle"))).findings
    assert finding.step == 2
    assert re.search(r"(49|50|51)% of the width to the right", finding.detail)
    assert finding.region is not None
    assert finding.region.x + finding.region.width / 2 < 0.5


@pytest.mark.parametrize(("name", "kind"), [("motorcycle", "scatter"), ("coffee", "simplify"), ("rocket", "wrinkle")])
def test_worn_copies_are_no_failure(name: str, kind: str) -> None:
    steps = [asked(COPY, "replicate", wear=[{"kind": kind}]) for _ in range(3)]
    assert duplicated_objects(simulated(steps, source=picture(name))).findings == ()


def test_a_mirrored_copy_is_found_in_a_mirrored_picture() -> None:
    """Step 1 lies mirrored: what it copies to the left is on the right once it is turned upright, and is shown left."""
    steps = [asked(MIRROR, "flip-horizontal", duplicate_at=1) for _ in range(3)]
    chain = simulated(steps, source=picture("motorcycle"))
    (finding,) = duplicated_objects(chain).findings
    assert finding.step == 1
    assert finding.region is not None
    middle = finding.region.x + finding.region.width / 2
    orientation = chain.steps[finding.shown or finding.step].orientation
    assert (middle < 0.5) == (orientation == "flip-horizontal")


def test_something_new_that_is_like_nothing_else_is_no_copy() -> None:
    other = picture("motorcycle").copy()
    other[40:130, 20:110] = picture("chelsea")[60:150, 100:190]
    assert duplicated_objects(drawn([picture("motorcycle"), *[other] * 3], "replicate")).findings == ()


def test_one_more_tile_of_a_tiled_wall_is_no_copy() -> None:
    tile = picture("motorcycle")[150:190, 60:100]
    wall: Pixels = np.ascontiguousarray(np.tile(tile, (8, 8, 1)))
    holed = wall.copy()
    holed[80:120, 80:120] = 128
    assert duplicated_objects(drawn([holed, *[wall] * 3], "replicate")).findings == ()


def test_two_steps_in_a_row_are_too_few() -> None:
    assert "3 steps in a row" in duplicated_objects(simulated([asked(COPY, "replicate")] * 2)).cannot_tell


def test_a_chain_that_adds_things_may_show_them_twice() -> None:
    assert duplicated_objects(simulated([asked(APPLE, "add")] * 3)).does_not_apply
