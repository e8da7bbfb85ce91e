"""Image files: every decoder that outside bytes reach."""

from __future__ import annotations

import io
from functools import cache

import numpy as np
from PIL import Image

from convergebench.images.decode import decode, probe
from convergebench.images.header import Damaged, read_png_header
from tests.fuzz.target import FuzzTarget

KINDS = ("PNG", "JPEG", "WEBP", "BMP", "TIFF", "AVIF", "GIF")
LIMIT = 1_000_000
"""Pixels; small, so that a file that claims more is seen by its memory."""


def picture(kind: str, mode: str = "RGB", side: int = 12) -> bytes:
    """A small picture of this kind."""
    pixels = np.random.default_rng(side).integers(0, 256, (side, side, 4), np.uint8)
    image = Image.fromarray(pixels[..., :3]).convert("RGBA" if mode == "RGBA" else "RGB").convert(mode)
    data = io.BytesIO()
    image.save(data, kind)
    return data.getvalue()


@cache
def seeds() -> tuple[bytes, ...]:
    """Every kind, and modes and chunks that take paths of their own."""
    found = [picture(kind) for kind in KINDS]
    found += [picture("PNG", mode) for mode in ("RGBA", "L", "P", "1", "I;16")]
    found += [picture("TIFF", mode) for mode in ("CMYK", "LAB", "L", "F")]
    turned, data = Image.Exif(), io.BytesIO()
    turned[274] = 6
    Image.new("RGB", (8, 5)).save(data, "JPEG", exif=turned, icc_profile=b"\0" * 200)
    return (*found, data.getvalue())


def _decode(data: bytes) -> None:
    frame = decode(data, max_pixels=LIMIT, alpha="white")
    assert 0 < frame.width * frame.height <= LIMIT


def _probe(data: bytes) -> None:
    found = probe(data, max_pixels=LIMIT)
    assert 0 < found.width * found.height <= LIMIT
    assert found.mime.startswith("image/")


TARGETS = {
    "image": FuzzTarget(_decode, seeds),
    "image-size": FuzzTarget(_probe, seeds),
    "png-header": FuzzTarget(read_png_header, lambda: (picture("PNG"), picture("PNG", "P")), (Damaged,)),
}
