"""Bytes to pixels and back, the same way for every simulated editor."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.decode import decode as decode_frame

Pixels = NDArray[np.uint8]
"""Height × width × 3, RGB, 8 bit."""

Mask = NDArray[np.uint8]
"""Height × width, 0 … 255."""


_FAST_PNG = [
    *(cv2.IMWRITE_PNG_COMPRESSION, 1),
    *(cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE),
    *(cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_UP),
]
"""One filter and run lengths: half the time of the defaults at level 1, and no larger."""


def pixels_of(array: object) -> Pixels:
    """What OpenCV returned, as the array it is."""
    return np.asarray(array, dtype=np.uint8)


def decode(data: bytes) -> Pixels:
    """RGB pixels, read exactly as the metrics read them: what an editor sees must be what is measured."""
    return decode_frame(data, what="the image to edit", alpha="white").pixels


def encode_png(pixels: Pixels) -> bytes:
    """A PNG file, written for speed: chains write many images and read each once."""
    _, data = cv2.imencode(".png", _bgr(pixels), _FAST_PNG)
    return bytes(data)


def encode_jpeg(pixels: Pixels, quality: int) -> bytes:
    """A JPEG file with the usual 4:2:0 chroma."""
    _, data = cv2.imencode(".jpg", _bgr(pixels), [cv2.IMWRITE_JPEG_QUALITY, quality])
    return bytes(data)


def _bgr(pixels: Pixels) -> Pixels:
    return pixels_of(cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
