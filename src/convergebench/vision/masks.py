"""Masks: the pixels of the object in a box (IS-Net), and of persons (MediaPipe's selfie segmentation)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from convergebench.errors import StudyError
from convergebench.vision.networks import Mask, Picture, check_picture, run_graph, session
from convergebench.vision.objects import PixelBox

OBJECT_SIDE = 512
"""Pixels of the square on which IS-Net works here; its own 1024 take five times as long."""
PERSON_SIDE = 256
MARGIN = 0.15
"""What is shown around a box on each side, as a share of its side: boxes are not exact."""
MOSTLY = 0.5
"""Least probability of a pixel, and least share of a connected part within the box, that belongs to the object."""


def object_mask(image: Picture, box: PixelBox) -> Mask:
    """The pixels of the thing in a box, as a mask of the picture's size.

    It may reach beyond the box; parts that are mostly outside belong to something else and are left out. It may be
    empty where nothing stands out, such as a boat in the dark.
    """
    check_picture(image)
    height, width = image.shape[:2]
    if not (0 <= box.left < box.right <= width and 0 <= box.top < box.bottom <= height):
        raise StudyError(f"the box {tuple(box)} is not inside a picture of {width} × {height} pixels")
    across, down = round(box.width * MARGIN), round(box.height * MARGIN)
    window = (
        slice(max(0, box.top - down), min(height, box.bottom + down)),
        slice(max(0, box.left - across), min(width, box.right + across)),
    )
    values = _scaled(image[window], OBJECT_SIDE).transpose(2, 0, 1)[None] / np.float32(255) - np.float32(0.5)
    (answer,) = session("isnet", OBJECT_SIDE).run(["output"], {"input": np.ascontiguousarray(values)})
    mask = np.zeros((height, width), np.bool_)
    mask[window] = _enlarged(answer[0, 0], image[window]) >= MOSTLY
    return _parts_in(mask, box)


def person_mask(image: Picture) -> Mask:
    """The pixels of persons, as a mask of the picture's size; made for persons who fill much of the picture."""
    check_picture(image)
    values = _scaled(image, PERSON_SIDE)[None] / np.float32(255)
    answer = run_graph("selfie", values)["activation_10:0"]
    return np.asarray(_enlarged(answer[0, :, :, 0], image) >= MOSTLY)


def _scaled(image: Picture, side: int) -> NDArray[np.float32]:
    """As a square, whatever its proportions."""
    import cv2

    smaller = max(image.shape[:2]) > side
    square = cv2.resize(image, (side, side), interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR)
    return np.asarray(square, np.float32)


def _enlarged(probabilities: NDArray[np.float32], image: Picture) -> NDArray[np.float32]:
    import cv2

    sizes = image.shape[1], image.shape[0]
    return np.asarray(cv2.resize(probabilities, sizes, interpolation=cv2.INTER_LINEAR), np.float32)


def _parts_in(mask: Mask, box: PixelBox) -> Mask:
    """The connected parts that lie mostly in the box."""
    import cv2

    count, labels = cv2.connectedComponents(mask.astype(np.uint8))
    total = np.bincount(labels.ravel(), minlength=count)
    inside = np.bincount(labels[box.top : box.bottom, box.left : box.right].ravel(), minlength=count)
    chosen = inside >= MOSTLY * np.maximum(total, 1)
    chosen[0] = False  # the background
    return np.asarray(chosen[labels])
