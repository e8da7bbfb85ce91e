"""Landmarks where MediaPipe's own program puts them, and parts of the face where they belong."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from convergebench.vision.faces import FaceMesh, find_faces
from convergebench.vision.networks import Picture

MEDIAPIPE = {
    33: (194.6, 100.9), 133: (213.8, 103.6), 362: (237.4, 104.8), 263: (256.7, 104.1), 61: (201.8, 139.5),
    291: (245.9, 142.2), 152: (221.3, 175.5), 10: (227.5, 72.4), 234: (179.0, 111.1), 454: (270.9, 116.3),
    4: (224.4, 127.0), 168: (225.9, 101.0),
}  # fmt: skip
"""What the package mediapipe 0.10.9 finds: corners of eyes and mouth, chin, hairline, cheekbones, nose."""


@pytest.fixture(scope="module")
def face(astronaut: Picture) -> FaceMesh:
    (found,) = find_faces(astronaut)
    return found


def test_landmarks_are_where_mediapipe_puts_them(face: FaceMesh) -> None:
    assert face.points.shape == (468, 2)
    assert face.confidence > 0.99
    for number, place in MEDIAPIPE.items():
        assert np.linalg.norm(face.points[number] - place) < 0.03 * face.width, number


def test_the_box_holds_every_landmark(face: FaceMesh) -> None:
    assert (face.points >= (face.box.left, face.box.top)).all()
    assert (face.points <= (face.box.right, face.box.bottom)).all()
    assert face.box.width < 1.1 * face.width


def test_parts_have_their_names(face: FaceMesh) -> None:
    """From the top: forehead, brows, eyes, nose, mouth, chin; and left of the picture is left."""
    parts = [face.forehead, face.left_brow, face.left_eye, face.nose_bridge[-1:], face.mouth, face.jaw[8:13]]
    heights = [float(part[:, 1].mean()) for part in parts]
    assert heights == sorted(heights)
    assert face.left_eye[:, 0].max() < face.nose_bridge[0, 0] < face.right_eye[:, 0].min()
    assert face.left_brow[:, 0].max() < face.right_brow[:, 0].min()
    assert face.right_brow[:, 1].mean() < face.right_eye[:, 1].min()
    np.testing.assert_array_equal(face.jaw[0], face.forehead[0])
    np.testing.assert_array_equal(face.jaw[-1], face.forehead[-1])
    assert np.all(np.diff(face.nose_bridge[:, 1]) > 0)


def test_the_outline_goes_around_all_of_it(face: FaceMesh) -> None:
    outline = face.outline.reshape(-1, 1, 2)
    assert len({tuple(point) for point in face.outline.tolist()}) == len(face.outline)
    for part in (face.left_eye, face.right_eye, face.mouth, face.nose_bridge):
        assert all(cv2.pointPolygonTest(outline, point, False) > 0 for point in part.tolist())
    assert cv2.contourArea(outline) > 0.6 * face.box.area


@pytest.mark.parametrize("degrees", [-35, 30])
def test_a_turned_head_is_found_turned(astronaut: Picture, face: FaceMesh, degrees: float) -> None:
    turn = cv2.getRotationMatrix2D((256, 256), -degrees, 1)  # OpenCV counts against the clock
    turned = np.asarray(cv2.warpAffine(astronaut, turn, (512, 512)), np.uint8)
    (found,) = find_faces(turned)
    assert found.roll == pytest.approx(face.roll + degrees, abs=3)
    expected = face.points @ turn[:, :2].T + turn[:, 2]
    assert np.linalg.norm(found.points - expected, axis=1).mean() < 0.03 * face.width


def test_a_mirrored_face_has_its_left_on_the_left(astronaut: Picture, face: FaceMesh) -> None:
    (found,) = find_faces(np.ascontiguousarray(astronaut[:, ::-1]))
    assert np.abs(found.left_eye.mean(0) - (511, 0) - face.right_eye.mean(0) * (-1, 1)).max() < 3
    assert found.roll == pytest.approx(-face.roll, abs=2)


def test_every_face_is_found_once_the_largest_first(astronaut: Picture) -> None:
    """Small ones too: in the whole picture of 2000 pixels, the smaller face has 7 of the network's 256."""
    wide = np.full((1000, 2000, 3), 90, np.uint8)
    wide[400:912, 100:612] = astronaut
    wide[600:900, 1600:1900] = cv2.resize(astronaut, (300, 300), interpolation=cv2.INTER_AREA)
    large, small = find_faces(wide)
    assert large.width / small.width == pytest.approx(512 / 300, rel=0.1)
    assert small.points[4] == pytest.approx((1600 + 224.4 * 300 / 512, 600 + 127 * 300 / 512), abs=3)


@pytest.mark.parametrize("degrees", [0, 20])
def test_a_large_face_is_found_once(astronaut: Picture, degrees: int) -> None:
    """The parts in which small faces are looked for cut it in two."""
    turn = cv2.getRotationMatrix2D((225, 120), degrees, 1)
    near = cv2.warpAffine(astronaut, turn, (512, 512), borderMode=cv2.BORDER_REPLICATE)[45:205, 125:325]
    large = cv2.resize(near, (1000, 800), interpolation=cv2.INTER_CUBIC)
    (found,) = find_faces(np.asarray(large, np.uint8))
    assert found.width > 400


def test_a_cup_has_no_face(coffee: Picture) -> None:
    assert find_faces(coffee) == []
    assert find_faces(np.zeros((3, 3, 3), np.uint8)) == []


def test_the_same_picture_gives_the_same_landmarks(astronaut: Picture, face: FaceMesh) -> None:
    np.testing.assert_array_equal(find_faces(astronaut)[0].points, face.points)
