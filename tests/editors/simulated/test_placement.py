"""Where things go."""

from __future__ import annotations

import importlib
from typing import Any

import cv2
import numpy as np
import pytest

from convergebench.editors.instructions.instruction import understand
from convergebench.editors.simulated.face import find_face
from convergebench.editors.simulated.placement import composite, coverage, place


def _middle(words: str, pixels: Any) -> tuple[float, float]:
    """Where the thing's middle is, as shares of width and height."""
    rows, columns = np.nonzero(coverage(pixels.shape, place(pixels, understand(words))))
    return float(columns.mean() / pixels.shape[1]), float(rows.mean() / pixels.shape[0])


@pytest.mark.parametrize("size", [96, 256, 512])
def test_face_of_a_portrait_is_found_at_any_size(size: int) -> None:
    data: Any = importlib.import_module("skimage.data")
    pixels = np.asarray(cv2.resize(data.astronaut(), (size, size), interpolation=cv2.INTER_AREA), np.uint8)
    face = find_face(pixels)
    assert face.score is not None
    assert face.x / size == pytest.approx(0.437, abs=0.03)
    assert face.eyes / size == pytest.approx(0.197, abs=0.03)
    assert face.width / size == pytest.approx(0.19, abs=0.05)


def test_picture_without_a_face_gets_the_layout_of_a_portrait(plain: Any) -> None:
    face = find_face(np.full((100, 200, 3), (40, 90, 160), np.uint8))
    assert face.score is None
    assert (face.x, face.eyes) == (100, 40)


@pytest.mark.parametrize(
    ("words", "low", "high"),
    [
        ("on the left", 0.0, 0.35),
        ("on the right", 0.65, 1.0),
        ("in the foreground", 0.4, 0.6),
        ("in the corner", 0.65, 1.0),
    ],
)
@pytest.mark.parametrize("thing", ["chair", "red ball", "cat", "candle"])
def test_sides_named_in_the_words_are_respected(thing: str, words: str, low: float, high: float, plain: Any) -> None:
    across, down = _middle(f"add a {thing} {words}", plain)
    assert low < across < high
    assert down > 0.5


def test_balloon_floats_at_the_top_right(plain: Any) -> None:
    across, down = _middle("Let a yellow balloon float at the top right.", plain)
    assert across > 0.65
    assert down < 0.5


def test_glasses_are_on_the_eyes_and_hat_above_them(pictures: Any) -> None:
    face = find_face(pictures["face"])
    size = pictures["face"].shape[0]
    assert _middle("add glasses", pictures["face"])[1] * size == pytest.approx(face.eyes, abs=0.15 * face.width)
    assert _middle("add a hat", pictures["face"])[1] * size < face.eyes - 0.3 * face.width
    assert _middle("add a beard", pictures["face"])[1] * size > face.eyes + 0.3 * face.width


def test_ball_has_exactly_the_colour_asked_for(plain: Any) -> None:
    edited = composite(plain, place(plain, understand("Add a ball of exactly the colour #1F5FBF.")))
    match = (np.abs(edited.astype(int) - (0x1F, 0x5F, 0xBF)).max(axis=2) <= 6).sum()
    assert match > 60


def test_place_depends_on_picture_and_words_alone(pictures: Any) -> None:
    first, second = (place(pictures["scene"].copy(), understand("add a dog")) for _ in range(2))
    assert (first.left, first.top) == (second.left, second.top)
