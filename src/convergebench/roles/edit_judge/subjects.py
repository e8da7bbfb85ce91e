"""Where the things are that an edit may concern: persons, the main object, writing. Found by small networks."""

from __future__ import annotations

import re
from collections.abc import Sequence

import cv2
import numpy as np

from convergebench.errors import Prerequisite
from convergebench.images.frame import Frame
from convergebench.metrics._region import Mask

WEIGHTS = ("human-models", "ppocr-v4")
"""What the networks need."""
MODULES = ("torch", "onnxruntime")
HEAD = (0.5, 0.8)
"""How far a head with its hair or hat reaches beyond a face's square, to the sides and up, in sides of the square."""
LEAST_OBJECT = 0.02
"""Share of the picture that the main object must cover."""


def require_networks() -> None:
    """Raise `Prerequisite`, with what to type, unless the networks can run here."""
    from importlib.util import find_spec

    from convergebench.weights import locate

    for module in MODULES:
        if find_spec(module) is None:
            raise Prerequisite(f'analysing images needs {module}: pip install "convergebench[vision,text]"')
    for name in WEIGHTS:
        locate(name)


def face_area(frame: Frame) -> Mask:
    """The heads of everyone whose face is seen."""
    return frame.derived("judged-faces", lambda frame: _heads(frame, body=False))


def person_area(frame: Frame) -> Mask:
    """Heads, and what a network for portraits takes for persons."""
    return frame.derived("judged-persons", lambda frame: _heads(frame, body=True))


def main_object(frame: Frame, instruction: str = "") -> Mask:
    """The inner part of what the instruction names, else persons, else of the largest thing, else of the picture."""
    named = named_object(frame, instruction)
    if named is not None and named.mean() >= LEAST_OBJECT:
        return _inner(named)
    return frame.derived("judged-object", _main_object)


def named_object(frame: Frame, instruction: str) -> Mask | None:
    """The boxes of things that an instruction names, as far as the detector knows and finds them; else None."""
    words = instruction.lower()
    boxes = [box for label, box in frame.derived("judged-objects", _objects) if re.search(rf"\b{label}s?\b", words)]
    if not boxes:
        return None
    mask = np.zeros(frame.pixels.shape[:2], np.bool_)
    for left, top, right, bottom in boxes:
        mask[top:bottom, left:right] = True
    return mask


def text_area(frame: Frame) -> Mask:
    """The boxes of lines that can be read."""
    return frame.derived("judged-text", _text_area)


def readable(frame: Frame, area: Mask | None = None) -> str:
    """What can be read in a picture, or in an area of it."""
    return "".join(text for text, box in _texts(frame) if area is None or _covered(box, area))


def _heads(frame: Frame, *, body: bool) -> Mask:
    from convergebench.vision.face_detector import detect_faces

    mask = np.zeros(frame.pixels.shape[:2], np.bool_)
    for face in detect_faces(np.ascontiguousarray(frame.pixels)):
        (x, y), half = (float(value) for value in face.centre), face.side / 2
        across, up = half + HEAD[0] * face.side, half + HEAD[1] * face.side
        rows = slice(max(0, round(y - up)), max(0, round(y + half + 0.3 * face.side)))
        mask[rows, max(0, round(x - across)) : max(0, round(x + across))] = True
    if body and mask.any():
        from convergebench.vision.masks import person_mask

        mask |= person_mask(np.ascontiguousarray(frame.pixels))
    return mask


def _main_object(frame: Frame) -> Mask:
    persons = person_area(frame)
    if persons.mean() >= LEAST_OBJECT:
        return persons
    height, width = frame.pixels.shape[:2]
    mask = np.zeros((height, width), np.bool_)
    boxes = [box for _, box in frame.derived("judged-objects", _objects)]
    areas = {box: (box[2] - box[0]) * (box[3] - box[1]) / (height * width) for box in boxes}
    fitting = [box for box in boxes if LEAST_OBJECT < areas[box] < 0.7]
    if fitting:
        left, top, right, bottom = max(fitting, key=lambda box: areas[box])
        mask[top:bottom, left:right] = True
        return _inner(mask)
    return _inner(np.ones((height, width), np.bool_), 0.5)


def _inner(area: Mask, share: float = 0.7) -> Mask:
    """An oval in the box around an area: corners of boxes are background."""
    rows, columns = np.nonzero(area)
    height, width = area.shape
    middle = (rows.min() + rows.max()) / 2, (columns.min() + columns.max()) / 2
    reach = (np.ptp(rows) + 1) / 2 * share, (np.ptp(columns) + 1) / 2 * share
    down, across = np.ogrid[:height, :width]
    return np.asarray(np.hypot((down - middle[0]) / reach[0], (across - middle[1]) / reach[1]) < 1)


def _objects(frame: Frame) -> list[tuple[str, tuple[int, int, int, int]]]:
    from convergebench.vision.objects import detect_objects

    found = detect_objects(np.ascontiguousarray(frame.pixels))
    return [(one.label, (one.box.left, one.box.top, one.box.right, one.box.bottom)) for one in found]


def _text_area(frame: Frame) -> Mask:
    mask = np.zeros(frame.pixels.shape[:2], np.uint8)
    for _, (left, top, right, bottom) in _texts(frame):
        margin = (bottom - top) * 0.4
        corners = [round(value) for value in (left - margin, top - margin, right + margin, bottom + margin)]
        cv2.rectangle(mask, corners[:2], corners[2:], 1, -1)
    return np.asarray(mask > 0)


def _texts(frame: Frame) -> Sequence[tuple[str, tuple[float, float, float, float]]]:
    from convergebench.metrics.semantic._ocr import lines
    from convergebench.metrics.semantic.text_kept import letters

    return [(letters(line.text), line.box) for line in lines(frame)]


def _covered(box: tuple[float, float, float, float], area: Mask) -> bool:
    left, top, right, bottom = (round(value) for value in box)
    part = area[max(0, top) : bottom + 1, max(0, left) : right + 1]
    return bool(part.size) and float(part.mean()) >= 0.3
