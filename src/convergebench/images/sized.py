"""Pictures at another size: at most so long, or a square cut. The same picture gives the same bytes on every machine.

What is made here is a PNG without compression: compressors differ between versions of their libraries, and a picture is
known by the hash of its bytes. Scaling is Pillow's Lanczos filter, which computes in whole numbers.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
from PIL import Image

from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.frame import Pixels
from convergebench.images.header import SIGNATURE

_LONGEST_BLOCK = 65_535
"""Most bytes of a block without compression (RFC 1951)."""


def at_most(data: bytes, longest: int, *, what: str = "image") -> bytes:
    """The picture upright, in sRGB, with a long side of at most `longest` pixels; it is never enlarged."""
    pixels = decode(data, what=what).pixels
    height, width = pixels.shape[:2]
    return plain_png(_scaled(pixels, min(1.0, longest / max(width, height))))


def square(data: bytes, side: int, focus: tuple[float, float] = (0.5, 0.5), *, what: str = "image") -> bytes:
    """The square of `side` pixels around `focus` after the short side is scaled to `side`; it is never enlarged.

    `focus` is where the square should have its centre, in shares of width and height; at an edge the square is moved
    until it lies inside.
    """
    pixels = decode(data, what=what).pixels
    height, width = pixels.shape[:2]
    if min(width, height) < side:
        raise StudyError(f"{what} has {width} × {height} pixels, too few for a square of {side}")
    scaled = _scaled(pixels, side / min(width, height))
    left, top = (_first(scaled.shape[axis], side, share) for axis, share in ((1, focus[0]), (0, focus[1])))
    return plain_png(scaled[top : top + side, left : left + side])


def plain_png(pixels: Pixels) -> bytes:
    """A PNG without compression: the same pixels are the same bytes, whatever libraries are installed."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    content = rows.tobytes()
    stream = b"\x78\x01" + b"".join(_blocks(content)) + struct.pack(">I", zlib.adler32(content))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", stream) + _chunk(b"IEND", b"")


def _blocks(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), _LONGEST_BLOCK):
        block = content[start : start + _LONGEST_BLOCK]
        last = start + _LONGEST_BLOCK >= len(content)
        yield struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _scaled(pixels: Pixels, scale: float) -> Pixels:
    height, width = pixels.shape[:2]
    size = max(1, round(width * scale)), max(1, round(height * scale))
    if size == (width, height):
        return pixels
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS), np.uint8)


def _first(length: int, side: int, share: float) -> int:
    """The first row or column of the cut."""
    return int(min(max(round(share * length - side / 2), 0), length - side))
