"""Finds faces with BlazeFace (the variant for pictures of 256 × 256 pixels)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convergebench.vision.networks import Picture, run_graph

SIDE = 256
GRIDS = ((16, 2), (8, 6))
"""Cells to a side and guesses to a cell, for small faces and for large ones."""
SURE = 0.6
SAME_FACE = 0.4
"""Share of the smaller of two squares that lies in the other, from which on both are one face."""
QUARTER = 0.6
"""Side of the four overlapping parts in which small faces are looked for, as a share of the picture's side."""

Floats = NDArray[np.float32]


class FoundFace(NamedTuple):
    """A face in pixels: middle and side of its square, both eyes (left and right in the picture), and the score."""

    centre: Floats
    side: float
    left_eye: Floats
    right_eye: Floats
    score: float


def detect_faces(image: Picture) -> list[FoundFace]:
    """Faces in the whole picture, the surest first, and then small ones in four overlapping parts of it."""
    found: list[FoundFace] = []
    for left, top, part in _parts(image):
        for face in sorted(_faces(part, left, top), key=lambda face: -face.score):
            # a part may cut a face in two, but not one that the whole picture has shown
            if all(_overlap(face, other) < SAME_FACE for other in found):
                found.append(face)
    return found


def _parts(image: Picture) -> Iterator[tuple[int, int, Picture]]:
    yield 0, 0, image
    height, width = image.shape[:2]
    if max(height, width) <= SIDE:
        return  # nothing more to be seen
    rows, columns = round(height * QUARTER), round(width * QUARTER)
    for top in (0, height - rows):
        for left in (0, width - columns):
            yield left, top, image[top : top + rows, left : left + columns]


def _faces(image: Picture, left: int, top: int) -> list[FoundFace]:
    import cv2

    height, width = image.shape[:2]
    longest = max(height, width)
    offset = np.array([(longest - width) // 2, (longest - height) // 2])
    square = np.zeros((longest, longest, 3), np.uint8)
    square[offset[1] : offset[1] + height, offset[0] : offset[0] + width] = image
    small = cv2.resize(square, (SIDE, SIDE), interpolation=cv2.INTER_AREA if longest > SIDE else cv2.INTER_LINEAR)
    outputs = run_graph("blazeface", small[None].astype(np.float32) / np.float32(127.5) - np.float32(1))
    logits = np.concatenate([outputs["Identity:0"][0, :, 0], outputs["Identity_1:0"][0, :, 0]])
    numbers = np.concatenate([outputs["Identity_2:0"][0], outputs["Identity_3:0"][0]])
    scores = 1 / (1 + np.exp(-np.clip(logits, -80, 80)))
    chosen = scores >= SURE
    # x and y by turns: the middle, width and height, then six points of the face
    places = numbers[chosen].reshape(-1, 8, 2) / SIDE
    places[:, [0, *range(2, 8)]] += _anchors()[chosen][:, None]
    places *= longest
    places[:, [0, *range(2, 8)]] += np.array([left, top]) - offset
    return [
        FoundFace(one[0], float(one[1].max()), one[2], one[3], float(score))
        for one, score in zip(places.astype(np.float32), scores[chosen], strict=True)
    ]


def _anchors() -> Floats:
    """The middles of the cells, once for each guess, as shares of the side."""
    found = []
    for cells, guesses in GRIDS:
        middles = (np.arange(cells, dtype=np.float32) + 0.5) / cells
        across, down = np.meshgrid(middles, middles)
        found.append(np.repeat(np.stack([across.ravel(), down.ravel()], 1), guesses, 0))
    return np.concatenate(found)


def _overlap(one: FoundFace, other: FoundFace) -> float:
    """Share of the smaller square that lies in the other."""
    start = np.maximum(one.centre - one.side / 2, other.centre - other.side / 2)
    end = np.minimum(one.centre + one.side / 2, other.centre + other.side / 2)
    return float(np.prod(np.maximum(end - start, 0))) / min(one.side, other.side) ** 2
