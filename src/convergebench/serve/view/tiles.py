"""Large images in tiles (Deep Zoom): level 0 is one pixel, the last level is the image itself, without loss."""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.frame import Pixels
from convergebench.serve.guard import Refusal
from convergebench.serve.view.pixels import encode_webp

TILE = 512
LOSSLESS, LOSSY = 101, 90


def levels(width: int, height: int) -> int:
    """Number of levels."""
    return (max(width, height) - 1).bit_length() + 1


def tile(pixels: Pixels, level: int, column: int, row: int) -> bytes:
    """One tile as WebP; `Refusal` if the image has none there."""
    height, width = pixels.shape[:2]
    last = levels(width, height) - 1
    if not 0 <= level <= last:
        raise Refusal(404, "There is no such level.")
    each = 1 << (last - level)
    if column * TILE * each >= width or row * TILE * each >= height:
        raise Refusal(404, "There is no such tile.")
    top, left = row * TILE * each, column * TILE * each
    part = pixels[top : top + TILE * each, left : left + TILE * each]
    if each == 1:
        return encode_webp(np.ascontiguousarray(part), LOSSLESS)
    size = (-(-part.shape[1] // each), -(-part.shape[0] // each))
    return encode_webp(cv2.resize(part, size, interpolation=cv2.INTER_AREA), LOSSY)  # type: ignore[arg-type]
