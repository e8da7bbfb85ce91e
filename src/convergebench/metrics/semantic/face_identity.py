"""Is it still the same person? Distance of two faces as dlib's recognition network sees them.

The face of the reference that the detector (histograms of oriented gradients) is surest of is found again in the
subject as the one that overlaps it most; both are set upright by five landmarks, and a ResNet turns each into 128
numbers. The value is their Euclidean distance: 0 for the same image, lower is better. The author takes two photographs
with less than 0.6 between them for one person (99.4 % right on Labeled Faces in the Wild), hence the level `half`.
`noticeable`, 0.3, lies above what harmless changes do: mirroring, grey, half the contrast and JPEG of quality 15 give
0.12 to 0.21 on two portraits. The two people on them are 0.69 apart. Small faces are less steady: with a face of 88
pixels a blur of σ 2 gives 0.37, with one of 216 pixels 0.17.

A reference without a face has no value (`no-face`). A subject without a face where the reference has one has none
either (`face-lost`): that is worse than any distance, so count it beside the mean. Images of different sizes have none
(`size`), since places would not meet. Of several faces in the reference only the surest one counts. Faces from 40
pixels, upright and seen from the front, are found; masks, profiles and drawings mostly are not. The network serves some
groups of people better than others, so distances of different people are not to be compared, only rounds of one. Code:
dlib, Boost licence. Weights: CC0; the landmarks are the five-point ones, since those with 68 points come from data with
a noncommercial licence.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from math import inf
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Prerequisite, Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics._pair import pair
from convergebench.metrics.base import Item, metric
from convergebench.weights import locate

WEIGHTS = "dlib-face"
OVERLAP = 0.1
"""Smallest overlap (intersection over union) of two rectangles around the same face."""

_lock = Lock()  # dlib's networks are not thread-safe


class DetectedFace(NamedTuple):
    """A face's rectangle, the detector's score and the network's descriptor."""

    left: int
    top: int
    right: int
    bottom: int
    score: float
    vector: NDArray[np.float64]


@metric(
    "face-identity",
    kind="semantic",
    better="lower",
    range=(0.0, inf),
    typical=(0.0, 1.0),
    dimension="none",
    self_value=0.0,
    noticeable=0.3,
    half=0.6,
    paper="King 2009, jmlr.org/papers/v10/king09a.html; King 2017, dlib's face recognition network",
    licence="Apache-2.0 (own code), dlib BSL-1.0; weights CC0-1.0",
    needs=("faces",),
    weights=(WEIGHTS,),
)
def face_identity(item: Item) -> float:
    """Distance of two faces in dlib's 128-dimensional embedding; above 0.6 they count as different people."""
    subject, reference = pair(item)
    known = faces(reference)
    if not known:
        raise Unmeasurable("no-face", "no face was found in the reference")
    target = max(known, key=lambda face: face.score)
    found = max(faces(subject), key=lambda face: overlap(face, target), default=None)
    if found is None or overlap(found, target) < OVERLAP:
        raise Unmeasurable("face-lost", "no face was found where the reference has one")
    return float(np.linalg.norm(found.vector - target.vector))


def overlap(one: DetectedFace, other: DetectedFace) -> float:
    """Intersection over union of two rectangles."""
    width = min(one.right, other.right) - max(one.left, other.left)
    height = min(one.bottom, other.bottom) - max(one.top, other.top)
    shared = max(0, width) * max(0, height)
    areas = sum((face.right - face.left) * (face.bottom - face.top) for face in (one, other))
    return shared / (areas - shared)


def faces(frame: Frame) -> tuple[DetectedFace, ...]:
    """Every face of an image; looked for at twice the size only if there is none of 80 pixels or more."""
    return frame.derived("faces", _faces)


def _faces(frame: Frame) -> tuple[DetectedFace, ...]:
    detector, landmarks, network = _models(locate(WEIGHTS))
    pixels = np.ascontiguousarray(frame.pixels)
    with _lock:
        for doublings in (0, 1):
            places, scores, _ = detector.run(pixels, doublings, 0.0)
            if len(places):
                break
        found = []
        for place, score in zip(places, scores, strict=True):
            numbers = network.compute_face_descriptor(pixels, landmarks(pixels, place), 0)
            sides = place.left(), place.top(), place.right(), place.bottom()
            found.append(DetectedFace(*sides, float(score), np.array(numbers, np.float64)))
    return tuple(found)


@cache
def _models(folder: Path) -> tuple[Any, Any, Any]:
    try:
        dlib: Any = import_module("dlib")
    except ImportError:
        raise Prerequisite('face-identity needs dlib: pip install "convergebench[faces]"') from None
    return (
        dlib.get_frontal_face_detector(),
        dlib.shape_predictor(str(folder / "shape_predictor_5_face_landmarks.dat")),
        dlib.face_recognition_model_v1(str(folder / "dlib_face_recognition_resnet_model_v1.dat")),
    )
