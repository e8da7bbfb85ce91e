"""Finds objects of the 80 kinds of COCO, with a CenterNet on MobileNetV3.

It is a small network (2 million numbers): it finds most large persons, animals, furniture and vehicles, misses small
and unusual things, and calls things of other kinds by the nearest kind it knows (a lamp is a vase). Of two networks
that packages ship, NanoDet is surer of what is there, but also of what is not; this one raises fewer false alarms.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from convergebench.vision.networks import Picture, check_picture, run_graph

SIDE = 512
"""Pixels of the square that the network looks at."""
GREY = 114
"""What is beside the picture in that square."""
SAME_OBJECT = 0.5
"""Overlap (intersection over union) from which on two boxes of one label are one object."""
SAME_PLACE = 0.8
"""The same for boxes of two labels: one thing is not both a cat and a dog."""

REMEMBERED = 512
"""Squares whose objects are kept."""
_known: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
_lock = Lock()

COCO_LABELS: tuple[str, ...] = (
    *("person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light"),
    *("fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow"),
    *("elephant", "bear", "zebra", "giraffe", "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee"),
    *("skis", "snowboard", "sports ball", "kite", "baseball bat", "baseball glove", "skateboard", "surfboard"),
    *("tennis racket", "bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple"),
    *("sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch"),
    *("potted plant", "bed", "dining table", "toilet", "tv", "laptop", "mouse", "remote", "keyboard"),
    *("cell phone", "microwave", "oven", "toaster", "sink", "refrigerator", "book", "clock", "vase", "scissors"),
    *("teddy bear", "hair drier", "toothbrush"),
)


class PixelBox(NamedTuple):
    """A rectangle in pixels; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """In pixels."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """In pixels."""
        return self.bottom - self.top

    @property
    def area(self) -> int:
        """In pixels."""
        return self.width * self.height

    def overlap(self, other: PixelBox) -> float:
        """Intersection over union: 0 for boxes apart, 1 for equal ones."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        shared = max(0, across) * max(0, down)
        return shared / (self.area + other.area - shared) if shared else 0.0


@dataclass(frozen=True, slots=True)
class DetectedObject:
    """One object: what it is, how sure the network is (0 to 1), and where."""

    label: str
    score: float
    box: PixelBox


def _detections(square: NDArray[np.uint8]) -> NDArray[np.float32]:
    """What the network says of a square; remembered, since chains share sources, and editors return equal pictures."""
    key = blake2b(square.tobytes(), digest_size=16).digest()
    with _lock:
        known = _known.get(key)
    if known is None:
        known = run_graph("centernet", square[None].astype(np.float32))["tower_0/detections"][0]
        known.setflags(write=False)
        with _lock:
            _known[key] = known
            while len(_known) > REMEMBERED:
                _known.popitem(last=False)
    return known


def detect_objects(image: Picture, *, threshold: float = 0.35) -> list[DetectedObject]:
    """The objects in a picture, the surest first; a lower threshold finds more and errs more."""
    check_picture(image)
    square, scale, left, top = _letterboxed(image)
    found = _detections(square)
    objects = []
    for *corners, score, number in found[found[:, 4] >= threshold].tolist():
        box = _box(corners, scale, (left, top), image.shape)
        if box.width > 0 and box.height > 0:
            objects.append(DetectedObject(COCO_LABELS[int(number)], score, box))
    return without_repeats(objects)


def without_repeats(objects: list[DetectedObject]) -> list[DetectedObject]:
    """Every object once, the surest first (non-maximum suppression)."""
    kept: list[DetectedObject] = []
    for one in sorted(objects, key=lambda one: -one.score):
        limits = ((other, SAME_OBJECT if other.label == one.label else SAME_PLACE) for other in kept)
        if all(one.box.overlap(other.box) < limit for other, limit in limits):
            kept.append(one)
    return kept


def _letterboxed(image: Picture) -> tuple[NDArray[np.uint8], float, int, int]:
    """The picture in the middle of a grey square; the scale, and where its left and top are now."""
    import cv2

    height, width = image.shape[:2]
    scale = SIDE / max(height, width)
    sizes = max(1, round(width * scale)), max(1, round(height * scale))
    small = cv2.resize(image, sizes, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    square = np.full((SIDE, SIDE, 3), GREY, np.uint8)
    left, top = (SIDE - sizes[0]) // 2, (SIDE - sizes[1]) // 2
    square[top : top + sizes[1], left : left + sizes[0]] = small
    return square, scale, left, top


def _box(corners: list[float], scale: float, offset: tuple[int, int], shape: tuple[int, ...]) -> PixelBox:
    """From the network's square to the picture, cut off at its sides."""
    x_start, y_start, x_end, y_end = (round((value - offset[place % 2]) / scale) for place, value in enumerate(corners))
    height, width = shape[:2]
    return PixelBox(max(0, x_start), max(0, y_start), min(width, x_end), min(height, y_end))
