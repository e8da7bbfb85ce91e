"""Evidence: a crop of the picture that shows a failure, and the same crop of the source.

The crop has native pixels: the region with a margin of a quarter of its size, at least 96 and at most 512 pixels a
side, within the picture. Without a region it is the middle of the picture.
"""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.failures.base import Box, ChainView
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.metrics.operations import GEOMETRIC, is_geometric
from convergebench.store.labels import Evidence

AROUND = 0.25
"""Margin on each side, as a share of the region's size."""
LEAST, MOST = 96, 512
SAME_SHAPE = 0.02
"""Largest relative difference of width over height at which equal shares show the same part."""
WHOLE = Box(0.0, 0.0, 1.0, 1.0)


def cut_evidence(chain: ChainView, shown: int, region: Box | None) -> Evidence:
    """The crops of picture and source as PNG files."""
    picture = chain.frame(shown).pixels
    height, width = picture.shape[:2]
    box = region or WHOLE
    left, wide = _window(box.x, box.width, width)
    top, high = _window(box.y, box.height, height)
    before = _source(chain, shown)
    piece = None
    if before is not None and _same_shape(before, picture):
        tall, broad = before.shape[:2]
        across, down = broad / width, tall / height
        rows = slice(round(top * down), max(round((top + high) * down), round(top * down) + 1))
        columns = slice(round(left * across), max(round((left + wide) * across), round(left * across) + 1))
        piece = before[rows, columns]
        if piece.shape[:2] != (high, wide):
            shrinking = piece.shape[0] * piece.shape[1] > high * wide
            piece = cv2.resize(
                piece, (wide, high), interpolation=cv2.INTER_AREA if shrinking else cv2.INTER_CUBIC
            ).view(np.uint8)
    return Evidence(
        encode_png(np.ascontiguousarray(picture[top : top + high, left : left + wide]), 6),
        None if piece is None else encode_png(np.ascontiguousarray(piece), 6),
    )


def _window(begin: float, share: float, pixels: int) -> tuple[int, int]:
    """First pixel and number of pixels along one side."""
    length = min(max(round(share * (1 + 2 * AROUND) * pixels), LEAST), MOST, pixels)
    centre = (begin + share / 2) * pixels
    return min(max(round(centre - length / 2), 0), pixels - length), length


def _source(chain: ChainView, shown: int) -> Pixels | None:
    """The source in this picture's expected orientation; None where that is unknown."""
    step = chain.steps[shown]
    source = chain.frame(0).pixels
    if step.orientation is not None and step.orientation in GEOMETRIC:
        return GEOMETRIC[step.orientation](source)
    return None if step.compared == "no" and is_geometric(step.operation) else source


def _same_shape(one: Pixels, other: Pixels) -> bool:
    ratio = (one.shape[1] / one.shape[0]) / (other.shape[1] / other.shape[0])
    return bool(abs(ratio - 1) <= SAME_SHAPE)
