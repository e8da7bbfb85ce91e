"""The parts of a face, on a photograph of which we know where they are."""

from __future__ import annotations

import numpy as np
import pytest

from convergebench.vision.face_parts import PARTS, WEIGHTS, FaceParts, face_parts
from convergebench.vision.faces import find_faces
from convergebench.vision.networks import Picture
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import search


@pytest.fixture(scope="module")
def parts(astronaut: Picture) -> FaceParts:
    if search(find_weight(WEIGHTS)) is None:
        pytest.skip(f"the weights are not here; type: cbench weights fetch {WEIGHTS}")
    return face_parts(astronaut, find_faces(astronaut)[0])


@pytest.mark.parametrize(
    ("place", "part"),
    [((225, 125), "nose"), ((200, 130), "skin"), ((225, 35), "hair"), ((165, 90), "hair"), ((226, 148), "mouth")],
)
def test_pixels_are_called_what_they_are(parts: FaceParts, place: tuple[int, int], part: str) -> None:
    column, row = place
    called = PARTS[int(parts.labels[row, column])]
    assert called in ((part, "upper lip", "lower lip") if part == "mouth" else (part,))


def test_eyes_lie_where_the_landmarks_say(astronaut: Picture, parts: FaceParts) -> None:
    face = find_faces(astronaut)[0]
    rows, columns = np.nonzero(parts.mask("left eye", "right eye"))
    middle = (face.left_eye.mean(axis=0) + face.right_eye.mean(axis=0)) / 2
    assert abs(columns.mean() - middle[0]) < 8
    assert abs(rows.mean() - middle[1]) < 8


def test_nothing_is_seen_that_is_not_worn(parts: FaceParts) -> None:
    assert not parts.mask("glasses").any()
    assert parts.mask("hat").sum() < 0.1 * parts.mask("skin").sum()
    assert parts.mask("earring").sum() < 30


def test_far_from_the_face_is_background(parts: FaceParts) -> None:
    assert (parts.labels[480:, :60] == 0).all()
    assert parts.labels.shape == (512, 512)


def test_a_face_at_the_edge_of_a_picture_is_read_too(astronaut: Picture, parts: FaceParts) -> None:
    cut = np.ascontiguousarray(astronaut[20:200, 150:300])
    near = face_parts(cut, find_faces(cut)[0])
    assert (near.mask("skin") == parts.mask("skin")[20:200, 150:300]).mean() > 0.9
