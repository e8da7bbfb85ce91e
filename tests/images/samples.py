"""Small pictures and files that the tests of this room share."""

import io
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from convergebench.images.frame import Pixels


def picture(width: int = 24, height: int = 16, *, seed: int = 0) -> Pixels:
    """A smooth picture with a little noise, different in every corner and for every seed."""
    chance = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    planes = np.stack([x * 200 / width, y * 200 / height, (x + y) * 100 / (width + height)], axis=-1)
    noisy = planes + chance.uniform(0, 40, (height, width, 3)) + seed % 15
    return noisy.astype(np.uint8)


def file_bytes(image: Image.Image | NDArray[Any], kind: str = "PNG", **options: Any) -> bytes:
    """The image as a file in memory."""
    stream = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(stream, kind, **options)
    return stream.getvalue()


def png_chunk(name: bytes, body: bytes) -> bytes:
    """One PNG chunk with its checksum."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png_header(width: int, height: int, *, depth: int = 8, colour: int = 2) -> bytes:
    """Signature and header chunk of a PNG."""
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))


def deep_png(samples: NDArray[np.uint16]) -> bytes:
    """A 16-bit RGB PNG, written by hand because Pillow cannot."""
    height, width, _ = samples.shape
    rows = b"".join(b"\x00" + samples[y].astype(">u2").tobytes() for y in range(height))
    body = png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b"")
    return png_header(width, height, depth=16) + body
