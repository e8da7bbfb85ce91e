"""Reading text in a picture with the two networks of PP-OCRv4: one marks where text is, one reads a line of it.

Detection after Liao et al.: Real-time scene text detection with differentiable binarization (2020), reading after Shi
et al. (2016) with greedy decoding. Sizes and thresholds are those the networks were published with. They run through
onnxruntime on the processor, with one thread each, since images are measured side by side already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Prerequisite
from convergebench.images.frame import Frame, Pixels
from convergebench.weights import locate

WEIGHTS = "ppocr-v4"
LONGEST, SHORTEST, MULTIPLE = 2000, 736, 32
"""Limits of the sides the detector sees, and what they are multiples of."""
INK, SURE = 0.3, 0.5
"""Probability from which a pixel counts as text, and mean from which a patch or a line does."""
SLENDER = 8
"""Sides whose ratio is above this are set on black of half the ratio: else a strip is enlarged beyond all memory."""
GROWTH = 1.6
"""The detector marks shrunken lines; they are grown by this share of area over perimeter."""
THINNEST = 3
"""Side of the smallest patch, in detector pixels."""
UPRIGHT = 1.5
"""Height over width from which a line runs downwards and is turned."""
HEIGHT, WIDTH = 48, 320
"""What the reader sees: height of a line, and least width."""
BATCH = 8

Corners = NDArray[np.float32]


class TextLine(NamedTuple):
    """A line of text, its corners in pixels of the image (clockwise from the upper left), how sure the reader is."""

    text: str
    corners: Corners
    score: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of what it covers."""
        (left, top), (right, bottom) = self.corners.min(axis=0).tolist(), self.corners.max(axis=0).tolist()
        return left, top, right, bottom


def lines(frame: Frame) -> tuple[TextLine, ...]:
    """The lines of text in an image, from top to bottom."""
    return frame.derived("text", _lines)


def read_at(frame: Frame, places: Sequence[Corners]) -> list[str]:
    """What stands at these places, found or not; nothing where the reader is unsure."""
    pixels = _as_trained(frame)
    read = _read([_cut_out(pixels, place) for place in places], locate(WEIGHTS))
    return [text if score >= SURE else "" for text, score in read]


def _lines(frame: Frame) -> tuple[TextLine, ...]:
    folder = locate(WEIGHTS)
    pixels = _as_trained(frame)
    places = _detected(pixels, folder)
    read = _read([_cut_out(pixels, place) for place in places], folder)
    found = [TextLine(text, place, score) for place, (text, score) in zip(places, read, strict=True)]
    kept = [line for line in found if line.text and line.score >= SURE]
    return tuple(sorted(kept, key=lambda line: (line.box[1], line.box[0])))


def _as_trained(frame: Frame) -> Pixels:
    """The networks know pictures in BGR."""
    return np.ascontiguousarray(frame.pixels[..., ::-1])


def _detected(pixels: Pixels, folder: Path) -> list[Corners]:
    """Corners of every patch of text, clockwise from the upper left."""
    whole = pixels.shape[1::-1]
    pixels, margins = _widened(pixels)
    height, width = pixels.shape[:2]
    scale = min(1.0, LONGEST / max(height, width))
    scale *= max(1.0, SHORTEST / (scale * min(height, width)))
    size = [max(1, round(int(side * scale) / MULTIPLE)) * MULTIPLE for side in (width, height)]
    seen = cv2.resize(pixels, size).astype(np.float32).transpose(2, 0, 1)[None] / 127.5 - 1
    (answer,) = _session(folder / "ch_PP-OCRv4_det_infer.onnx").run(None, {"x": seen})
    probability: NDArray[np.float32] = answer[0, 0]
    mask = cv2.dilate((probability > INK).astype(np.uint8), np.ones((2, 2), np.uint8))
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    back = np.array((width / size[0], height / size[1]))
    found = []
    for contour in contours:
        centre, (across, down), angle = cv2.minAreaRect(contour)
        patch = cv2.boxPoints((centre, (across, down), angle))
        if min(across, down) < THINNEST or _mean_inside(probability, patch) < SURE:
            continue
        margin = 2 * GROWTH * across * down / (2 * (across + down))
        grown = cv2.boxPoints((centre, (across + margin, down + margin), angle)) * back - margins
        corners = _clockwise(np.clip(np.rint(grown), 0, np.subtract(whole, 1)).astype(np.float32))
        if min(_sides(corners)) > THINNEST:
            found.append(corners)
    return found


def _widened(pixels: Pixels) -> tuple[Pixels, tuple[int, int]]:
    """A strip in the middle of something less slender, and how far right and down it went; other images as they are."""
    height, width = pixels.shape[:2]
    if max(height, width) <= SLENDER * min(height, width):
        return pixels, (0, 0)
    beside, above = (max(0, max(height, width) * 2 // SLENDER - side) // 2 for side in (width, height))
    widened = cv2.copyMakeBorder(pixels, above, above, beside, beside, cv2.BORDER_CONSTANT, value=(0, 0, 0))
    return np.asarray(widened, np.uint8), (beside, above)


def _mean_inside(probability: NDArray[np.float32], corners: NDArray[Any]) -> float:
    height, width = probability.shape
    left, top = np.clip(np.floor(corners.min(axis=0)), 0, (width - 1, height - 1)).astype(int).tolist()
    right, bottom = np.clip(np.ceil(corners.max(axis=0)), 0, (width - 1, height - 1)).astype(int).tolist()
    inside = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
    cv2.fillPoly(inside, [(corners - (left, top)).astype(np.int32)], (1,))
    return float(cv2.mean(probability[top : bottom + 1, left : right + 1], inside)[0])


def _clockwise(corners: Corners) -> Corners:
    """Upper left, upper right, lower right, lower left."""
    by_column = corners[np.argsort(corners[:, 0], kind="stable")]
    left, right = (half[np.argsort(half[:, 1], kind="stable")] for half in (by_column[:2], by_column[2:]))
    return np.stack([left[0], right[0], right[1], left[1]])


def _sides(corners: Corners) -> tuple[int, int]:
    """Width and height of a patch."""
    edges = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    return int(max(edges[0], edges[2])), int(max(edges[1], edges[3]))


def _cut_out(pixels: Pixels, corners: Corners) -> Pixels:
    """The patch cut out and rotated level."""
    width, height = _sides(corners)
    target = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    turn = cv2.getPerspectiveTransform(corners, target)
    patch = cv2.warpPerspective(pixels, turn, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    level = np.rot90(patch) if height >= UPRIGHT * width else patch
    return np.ascontiguousarray(level, np.uint8)


def _read(patches: list[Pixels], folder: Path) -> list[tuple[str, float]]:
    """Text and certainty of each patch."""
    alike: dict[int, list[tuple[int, NDArray[np.float32]]]] = defaultdict(list)
    for number, patch in enumerate(patches):
        width = ceil(HEIGHT * patch.shape[1] / patch.shape[0])
        canvas = np.zeros((3, HEIGHT, max(WIDTH, width)), np.float32)
        canvas[..., :width] = cv2.resize(patch, (width, HEIGHT)).astype(np.float32).transpose(2, 0, 1) / 127.5 - 1
        alike[canvas.shape[2]].append((number, canvas))
    session = _session(folder / "ch_PP-OCRv4_rec_infer.onnx")
    read: dict[int, tuple[str, float]] = {}
    for group in alike.values():
        for start in range(0, len(group), BATCH):
            part = group[start : start + BATCH]
            (answer,) = session.run(None, {"x": np.stack([canvas for _, canvas in part])})
            read |= {number: _decoded(rows, session) for (number, _), rows in zip(part, answer, strict=True)}
    return [read[number] for number in range(len(patches))]


def _decoded(rows: NDArray[np.float32], session: Any) -> tuple[str, float]:
    """The likeliest sign per column, repeats and blanks taken out."""
    signs = _signs(session)
    best = rows.argmax(axis=1).tolist()
    kept = [column for column, (before, now) in enumerate(pairwise([0, *best])) if now not in (0, before)]
    text = "".join(signs[best[column]] for column in kept)
    return text, float(rows.max(axis=1)[kept].mean()) if kept else 0.0


@cache
def _signs(session: Any) -> tuple[str, ...]:
    """The alphabet, which the model file carries; sign 0 is the blank between letters, the last one a space."""
    return ("", *session.get_modelmeta().custom_metadata_map["character"].splitlines(), " ")


@cache
def _session(path: Path) -> Any:
    try:
        onnxruntime: Any = import_module("onnxruntime")
    except ImportError:
        raise Prerequisite('text-kept needs onnxruntime: pip install "convergebench[text]"') from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
