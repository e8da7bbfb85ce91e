"""Keeping count of mirrorings and turns, held against what numpy does to real pixels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from convergebench.edits.orientation import NAMED, UPRIGHT, Orientation
from convergebench.metrics.operations import GEOMETRIC
from convergebench.types import Operation

PICTURE = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
MOVES = st.lists(st.sampled_from(sorted(GEOMETRIC)), max_size=12)


def turned(orientation: Orientation) -> np.ndarray:
    picture = PICTURE[:, ::-1] if orientation.mirrored else PICTURE
    return np.rot90(picture, -orientation.quarters)


def walked(moves: list[Operation]) -> tuple[Orientation, np.ndarray]:
    orientation, pixels = UPRIGHT, PICTURE
    for move in moves:
        orientation, pixels = orientation.then(move), GEOMETRIC[move](pixels)
    return orientation, pixels


@given(MOVES)
def test_it_says_how_the_pixels_lie_after_any_moves(moves: list[Operation]) -> None:
    orientation, pixels = walked(moves)
    assert np.array_equal(turned(orientation), pixels)


@given(MOVES, MOVES)
def test_it_says_what_leads_from_one_state_to_another(first: list[Operation], second: list[Operation]) -> None:
    earlier, before = walked(first)
    later, after = walked([*first, *second])
    between = later.relative_to(earlier)
    assert later == earlier.followed_by(between)
    if between.operation is not None:
        assert np.array_equal(GEOMETRIC[between.operation](before), after)


@given(MOVES)
def test_taking_back_leads_to_upright(moves: list[Operation]) -> None:
    orientation, _ = walked(moves)
    assert orientation.followed_by(orientation.inverse()) == UPRIGHT


def test_two_of_the_eight_have_no_name() -> None:
    every = {Orientation(mirrored, quarters) for mirrored in (False, True) for quarters in range(4)}
    assert {one for one in every if not one.is_one_operation} == {Orientation(True, 1), Orientation(True, 3)}
    assert set(NAMED) == set(GEOMETRIC)


def test_a_wish_that_moves_no_pixels_changes_nothing() -> None:
    assert Orientation(True, 1).then("add") == Orientation(True, 1)
    assert UPRIGHT.then(None).operation is None
