"""Objects on real photographs: what they are, where they are, and each of them once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from convergebench.errors import StudyError
from convergebench.vision import objects
from convergebench.vision.networks import Picture, run_graph
from convergebench.vision.objects import COCO_LABELS, DetectedObject, PixelBox, detect_objects, without_repeats


def test_a_person_is_found_where_she_is(astronaut: Picture) -> None:
    (found,) = detect_objects(astronaut)
    assert found.label == "person"
    assert found.score > 0.5
    # she reaches from her helmet, left of which is a flag, to the lower side
    assert found.box.overlap(PixelBox(15, 15, 370, 512)) > 0.9


def test_a_cup_and_a_cat_are_found(coffee: Picture, cat: Picture) -> None:
    cup = detect_objects(coffee)[0]
    assert cup.label == "cup"
    assert cup.box.overlap(PixelBox(165, 15, 420, 275)) > 0.9
    (animal,) = detect_objects(cat)  # a little less sure, the network also takes it for a dog
    assert animal.label == "cat"


def test_boxes_are_where_the_object_is_at_any_size_and_place(coffee: Picture) -> None:
    here = detect_objects(coffee)[0].box
    twice = detect_objects(np.asarray(cv2.resize(coffee, (1200, 800), interpolation=cv2.INTER_CUBIC), np.uint8))[0].box
    assert twice.overlap(PixelBox(*(2 * side for side in here))) > 0.9
    framed = np.full((520, 640, 3), 200, np.uint8)
    framed[100:500, 40:] = coffee
    moved = detect_objects(framed)[0]
    assert moved.label == "cup"
    assert moved.box.overlap(PixelBox(here.left + 40, here.top + 100, here.right + 40, here.bottom + 100)) > 0.75


def test_a_lower_threshold_finds_more_and_the_surest_come_first(cat: Picture) -> None:
    many, few = detect_objects(cat, threshold=0.1), detect_objects(cat, threshold=0.3)
    assert len(many) > len(few) > 0
    scores = [one.score for one in many]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= 0.1
    for one in many:
        assert 0 <= one.box.left < one.box.right <= 451
        assert 0 <= one.box.top < one.box.bottom <= 300


def test_nothing_is_found_in_an_empty_picture() -> None:
    assert detect_objects(np.full((300, 200, 3), 128, np.uint8)) == []
    assert detect_objects(np.zeros((1, 1, 3), np.uint8)) == []


def test_the_network_looks_at_equal_pictures_once_and_keeps_no_more_than_it_should(
    coffee: Picture, cat: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def counted(name: str, values: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        looked.append(name)
        return run_graph(name, values)

    monkeypatch.setattr(objects, "run_graph", counted)
    monkeypatch.setattr(objects, "REMEMBERED", 2)
    objects._known.clear()
    first = detect_objects(coffee)
    assert detect_objects(coffee.copy()) == first
    assert len(detect_objects(coffee, threshold=0.05)) > len(first)  # another question about the same look
    assert len(looked) == 1
    changed = coffee.copy()
    changed[:200] = 0
    assert detect_objects(changed) != first
    assert len(looked) == 2
    detect_objects(cat)
    assert len(objects._known) == 2
    assert detect_objects(coffee) == first  # forgotten, and looked at again
    assert len(looked) == 4


def test_the_same_picture_gives_the_same_answer_in_every_thread(
    coffee: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "REMEMBERED", 0)
    objects._known.clear()
    alone = detect_objects(coffee)
    assert not objects._known
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(detect_objects, [coffee] * 3)) == [alone] * 3


def test_one_thing_is_one_object() -> None:
    cat = DetectedObject("cat", 0.9, PixelBox(0, 0, 100, 100))
    again = DetectedObject("cat", 0.8, PixelBox(10, 10, 110, 110))
    dog = DetectedObject("dog", 0.7, PixelBox(2, 2, 100, 100))
    person = DetectedObject("person", 0.6, PixelBox(10, 10, 110, 110))  # holds the cat
    other = DetectedObject("cat", 0.5, PixelBox(80, 80, 180, 180))
    assert without_repeats([other, again, dog, person, cat]) == [cat, person, other]


def test_overlap_is_intersection_over_union() -> None:
    box = PixelBox(0, 0, 10, 10)
    assert box.overlap(box) == 1
    assert box.overlap(PixelBox(5, 0, 15, 10)) == pytest.approx(50 / 150)
    assert box.overlap(PixelBox(10, 10, 20, 20)) == 0
    assert (box.width, box.height, box.area) == (10, 10, 100)


def test_there_are_eighty_labels() -> None:
    assert len(set(COCO_LABELS)) == 80


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((8, 8), np.uint8),
        np.zeros((8, 8, 3), np.float32),
        np.zeros((8, 8, 4), np.uint8),
        np.zeros((0, 8, 3), "u1"),
    ],
    ids=["grey", "floats", "alpha", "empty"],
)
def test_what_is_no_picture_is_refused(wrong: Picture) -> None:
    with pytest.raises(StudyError, match="a picture is a uint8 array of height × width × 3, not"):
        detect_objects(wrong)
