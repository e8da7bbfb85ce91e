"""Face identity on two public-domain portraits, against dlib called by hand."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.base import Item
from convergebench.metrics.semantic.face_identity import DetectedFace, face_identity, faces, overlap
from convergebench.weights import find_weight
from convergebench.weights.store import search
from tests.metrics.pictures import box_blur, jpeg, photograph, resized
from tests.metrics.semantic_pictures import FACES, admiral, astronaut

PATH = Path(__file__).parents[1] / "golden" / "semantic.csv"
ROWS = [r for r in csv.DictReader(PATH.read_text(encoding="utf-8").splitlines()) if r["metric"] == "face-identity"]


@pytest.fixture(autouse=True)
def _at_hand(request: pytest.FixtureRequest) -> None:
    if "arithmetic" in request.node.name:
        return
    pytest.importorskip("dlib", reason="dlib is not installed (extra faces)")
    if search(find_weight("dlib-face")) is None:
        pytest.skip("dlib's face networks are not here (cbench weights fetch dlib-face)")


def value(subject: Pixels, reference: Pixels) -> float:
    return face_identity(Item(Frame(subject), Frame(reference)))


def test_arithmetic_of_overlaps() -> None:
    def face(left: int, top: int, right: int, bottom: int) -> DetectedFace:
        return DetectedFace(left, top, right, bottom, 1.0, np.zeros(128))

    assert overlap(face(0, 0, 10, 10), face(0, 0, 10, 10)) == 1
    assert overlap(face(0, 0, 10, 10), face(5, 0, 15, 10)) == pytest.approx(1 / 3)
    assert overlap(face(0, 0, 10, 10), face(20, 20, 30, 30)) == 0


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["case"]))
def test_the_distance_is_dlibs_own(row: dict[str, str]) -> None:
    subject, reference = FACES[row["case"]]
    assert value(subject(), reference()) == pytest.approx(float(row["value"]), abs=float(row["tolerance"]))


def test_the_same_picture_is_the_same_person() -> None:
    assert value(astronaut(), astronaut()) == 0
    assert value(jpeg(admiral(), 40), admiral()) < 0.2


def test_another_person_at_the_same_place_is_told_apart() -> None:
    (there,) = faces(Frame(admiral()))
    size = 256
    other = np.zeros((size, size, 3), np.uint8)
    side = int(1.6 * (there.right - there.left))
    middle = (there.left + there.right) // 2, (there.top + there.bottom) // 2
    top, left = max(0, middle[1] - side // 2), max(0, middle[0] - side // 2)
    other = resized(admiral()[top : top + side, left : left + side], size, size)
    (here,) = faces(Frame(photograph("astronaut", 400, 256)))
    half = int(0.8 * (here.right - here.left))
    x, y = (here.left + here.right) // 2, (here.top + here.bottom) // 2
    first = photograph("astronaut", 400, 256)[max(0, y - half) : y + half, x - half : x + half]
    assert value(other, resized(np.ascontiguousarray(first), size, size)) > 0.6


def test_the_distance_grows_with_blur() -> None:
    values = [value(box_blur(astronaut(), side), astronaut()) for side in (1, 3, 7, 11)]
    assert values[0] == 0
    assert values == sorted(values)
    assert values == [value(box_blur(astronaut(), side), astronaut()) for side in (1, 3, 7, 11)]


@pytest.mark.parametrize(
    ("subject", "reference", "status"),
    [
        (lambda: photograph("chelsea", 384, 256), lambda: photograph("coffee", 384, 256), "no-face"),
        (lambda: photograph("chelsea", 384, 256), astronaut, "face-lost"),
        (lambda: np.ascontiguousarray(np.roll(astronaut(), 150, axis=1)), astronaut, "face-lost"),
        (lambda: photograph("chelsea", 9, 9), lambda: photograph("chelsea", 9, 9), "no-face"),
        (lambda: resized(astronaut(), 192, 128), astronaut, "size"),
    ],
    ids=["no face to begin with", "no face left", "a face elsewhere", "tiny", "half the size"],
)
def test_no_face_is_a_status_and_a_lost_one_is_another(subject, reference, status) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Unmeasurable) as caught:
        value(subject(), reference())
    assert caught.value.status == status


def test_grey_and_odd_sizes_are_images_like_any_other() -> None:
    grey = np.ascontiguousarray(astronaut()[:255, :383, 1:2].repeat(3, axis=2))
    assert value(grey, np.ascontiguousarray(astronaut()[:255, :383])) < 0.4
    with pytest.raises(Unmeasurable):
        face_identity(Item(Frame(grey)))
