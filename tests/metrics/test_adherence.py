from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics._region import _cells
from convergebench.metrics.operations import GEOMETRIC, INVERSE, expected
from convergebench.types import Operation
from tests.metrics.pictures import box_blur, jpeg, measured, noisy, photograph, resized, tinted, with_disc

SIDE_EFFECTS: dict[str, Callable[[Pixels], Pixels]] = {
    "nothing": lambda pixels: pixels,
    "jpeg": lambda pixels: jpeg(pixels, 30),
    "noise": lambda pixels: noisy(pixels, 15),
    "tint": lambda pixels: tinted(pixels, 10, -8, 15),
    "contrast": lambda pixels: np.clip((pixels - 128.0) * 1.25 + 128, 0, 255).astype(np.uint8),
    "blur": lambda pixels: box_blur(pixels, 3),
    "all": lambda pixels: jpeg(noisy(tinted(pixels, 8, -6, 4), 8), 50),
}
PHOTOGRAPHS = ("astronaut", "coffee", "chelsea")


def _pasted(pixels: Pixels) -> Pixels:
    """Part of another photograph, cut out as an ellipse: an object with texture."""
    height, width = pixels.shape[:2]
    other = cv2.resize(photograph("immunohistochemistry"), (width // 3, height // 3))
    mask = np.zeros(other.shape[:2], dtype=np.uint8)
    cv2.ellipse(mask, (width // 6, height // 6), (width // 7, height // 7), 0, 0, 360, 1, -1)
    out = pixels.copy()
    area = out[height // 2 : height // 2 + height // 3, width // 3 : width // 3 + width // 3]
    area[mask > 0] = other[mask > 0]
    return out


@pytest.mark.parametrize("effect", SIDE_EFFECTS)
@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_an_object_that_was_added_is_seen_whatever_else_happened(name: str, effect: str) -> None:
    parent = photograph(name, 384, 300)
    for added in (with_disc(parent), _pasted(parent)):
        assert measured("happened", SIDE_EFFECTS[effect](added), parent, operation="add") > 0.65


@pytest.mark.parametrize("effect", SIDE_EFFECTS)
@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_an_edit_that_was_ignored_scores_zero_whatever_else_happened(name: str, effect: str) -> None:
    parent = photograph(name, 384, 300)
    assert measured("happened", SIDE_EFFECTS[effect](parent), parent, operation="add") == 0


@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_removing_an_object_counts_like_adding_it(name: str) -> None:
    clean = photograph(name, 384, 300)
    assert measured("happened", jpeg(clean, 60), with_disc(clean), operation="remove") > 0.65


def test_an_exact_addition_to_a_quiet_image_is_one() -> None:
    parent = photograph("coffee", 384, 300)
    assert measured("happened", with_disc(parent), parent, operation="add") == pytest.approx(1, abs=0.01)


def test_a_returned_image_of_another_size_is_fitted_first() -> None:
    parent = photograph("coffee", 384, 300)
    smaller = resized(with_disc(parent), 256, 200)
    assert measured("happened", smaller, parent, operation="add") > 0.65
    ignored = resized(parent, 256, 200)
    assert measured("happened", ignored, parent, operation="add") == 0


@pytest.mark.parametrize("operation", list(GEOMETRIC))
def test_a_turn_is_one_if_exact_and_zero_if_ignored(operation: Operation) -> None:
    parent = photograph("astronaut", 300, 240)
    turned = np.ascontiguousarray(GEOMETRIC[operation](parent))
    assert measured("happened", turned, parent, operation=operation) == 1
    assert measured("happened", jpeg(turned, 40), parent, operation=operation) > 0.85
    assert measured("happened", parent.copy(), parent, operation=operation) == 0
    assert measured("happened", jpeg(parent, 40), parent, operation=operation) < 0.15


def test_a_symmetric_image_cannot_tell() -> None:
    half = photograph("coffee", 150, 200)
    symmetric = np.ascontiguousarray(np.concatenate([half, half[:, ::-1]], axis=1))
    with pytest.raises(Unmeasurable) as caught:
        measured("happened", symmetric, symmetric, operation="flip-horizontal")
    assert caught.value.status == "symmetric"


def test_a_copy_asks_for_no_edit() -> None:
    with pytest.raises(Unmeasurable) as caught:
        measured("happened", photograph("coffee"), photograph("coffee"), operation="replicate")
    assert caught.value.status == "nothing-asked"


def test_the_expected_image_is_the_transform_and_its_inverse_takes_it_back() -> None:
    frame = Frame(photograph("coffee", 40, 30))
    assert expected(frame, "add") is frame
    assert expected(frame, None) is frame
    assert expected(frame, "rotate-90").size == (30, 40)
    # clockwise: what was the left edge is now the top edge, upside down
    assert (expected(frame, "rotate-90").pixels[0] == frame.pixels[::-1, 0]).all()
    for operation, inverse in INVERSE.items():
        assert (expected(expected(frame, operation), inverse).pixels == frame.pixels).all()


def _undone(subject: Pixels, before: Pixels, via: Pixels, operation: Operation = "remove") -> float:
    return measured("undone", subject, before, via=Frame(via), operation=operation)


def test_undone_is_one_if_taken_back_zero_if_not_and_below_zero_if_worse() -> None:
    before = photograph("chelsea", 384, 300)
    via = with_disc(before)
    assert _undone(before.copy(), before, via) == 1
    assert _undone(via.copy(), before, via) == 0
    assert 0.6 < _undone(jpeg(before, 30), before, jpeg(via, 50)) < 1
    inverted = via.copy()
    inverted[via != before] = 255 - before[via != before]
    assert _undone(inverted, before, via) < 0


@pytest.mark.parametrize("operation", list(GEOMETRIC))
def test_a_turn_taken_back_is_undone(operation: Operation) -> None:
    before = photograph("astronaut", 300, 240)
    via = np.ascontiguousarray(GEOMETRIC[INVERSE[operation]](before))
    assert _undone(before.copy(), before, via, operation) == 1
    assert _undone(via.copy(), before, via, operation) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("operation", ["remove", "flip-horizontal", "rotate-270"])
def test_where_nothing_happened_there_is_nothing_to_undo(operation: Operation) -> None:
    before = photograph("coffee", 300, 240)
    with pytest.raises(Unmeasurable) as caught:
        _undone(before.copy(), before, jpeg(before, 60), operation)
    assert caught.value.status == "nothing-to-undo"


def test_undoing_needs_the_image_in_between() -> None:
    with pytest.raises(Unmeasurable) as caught:
        measured("undone", photograph("coffee"), photograph("coffee"), operation="remove")
    assert caught.value.status == "no-reference"


def test_cells_are_mean_colours_from_black_to_white() -> None:
    pixels = np.zeros((300, 600, 3), np.uint8)
    pixels[:, 300:] = 255
    cells = _cells(Frame(pixels))
    height, width = cells.shape[:2]
    assert width == 2 * height
    assert (cells[:, : width // 2] == 0).all()
    assert (cells[:, width // 2 :] == 1).all()
