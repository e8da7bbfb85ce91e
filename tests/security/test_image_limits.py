"""Pictures of strangers: every format Pillow knows, huge sizes, many frames, huge chunks; nothing fills the memory."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile, PngImagePlugin

from convergebench.errors import StudyError
from convergebench.images.decode import _FORMATS, MAX_PIXELS, decode, probe
from tests.fuzz.target import FuzzTarget, check

pytestmark = pytest.mark.filterwarnings("ignore")
READ = ("PNG", "JPEG", "WEBP", "BMP", "TIFF", "AVIF", "GIF")
SIDE = 12_000
"""Pixels of a side whose square is more than the limit; all of one colour, it is a small file."""


def saved(image: Image.Image, kind: str, **more: object) -> bytes:
    data = io.BytesIO()
    image.save(data, kind, **more)
    return data.getvalue()


def _resized(data: bytes, place: int, size: bytes) -> bytes:
    return data[:place] + size + data[place + len(size) :]


def _png() -> bytes:
    data = saved(Image.new("L", (8, 8)), "PNG")
    return data[:8] + _chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)) + data[33:]


BOMBS: dict[str, Callable[[], bytes]] = {
    "PNG": _png,
    "GIF": lambda: _resized(saved(Image.new("L", (8, 8)), "GIF"), 6, struct.pack("<HH", SIDE, SIDE)),
    "TIFF": lambda: saved(Image.new("1", (SIDE, SIDE)), "TIFF", compression="group4"),
    "BMP": lambda: _resized(saved(Image.new("RGB", (8, 8)), "BMP"), 18, struct.pack("<ii", SIDE, SIDE)),
    "WEBP": lambda: b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<II", 10, 0) + b"\xff\xff\x00" * 2,
    "JPEG": lambda: _jpeg(60_000, 60_000),
}


def _jpeg(width: int, height: int) -> bytes:
    """A real JPEG whose header claims another size."""
    data = saved(Image.new("L", (8, 8)), "JPEG")
    place = data.index(b"\xff\xc0") + 5
    return data[:place] + struct.pack(">HH", height, width) + data[place + 4 :]


def refused(data: bytes) -> str:
    """The one line that both readers refuse it with; a fault if time or memory is spent on it."""
    for read in (decode, probe):
        told = check(FuzzTarget(read, list), data)
        assert told != "accepted"
    return told


@pytest.mark.parametrize("kind", BOMBS)
def test_a_picture_of_more_pixels_than_allowed_is_refused_by_its_header(kind: str) -> None:
    data = BOMBS[kind]()
    assert len(data) < 2_000_000, "a bomb is a small file"
    told = refused(data)
    assert "pixels" in told or "not a readable image" in told


def test_the_limit_is_where_it_is_said_to_be() -> None:
    assert MAX_PIXELS < SIDE * SIDE < 2 * MAX_PIXELS


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n(/tmp/x) (w) file\n%%EOF\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/passwd"/></svg>'


def test_every_other_format_is_refused_whatever_pillow_can_open() -> None:
    """EPS would start Ghostscript; others have readers that nobody looks at."""
    samples = {"SVG": SVG, "EPS header": EPS}
    Image.init()
    for kind in sorted(Image.SAVE):
        if kind not in (*READ, "MPO", "DIB"):  # these two are kinds of JPEG and BMP
            with suppress(Exception):  # some cannot be written from a plain picture
                samples[kind] = saved(Image.new("RGB", (8, 8)), kind)
    assert len(samples) > 12
    assert {"EPS", "PDF", "JPEG2000", "PPM", "TGA", "ICO"} <= set(samples)
    for kind, data in samples.items():
        assert "not a readable image" in refused(data), kind
    assert set(_FORMATS) == set(READ)


def test_many_frames_are_counted_and_not_drawn() -> None:
    frames = [Image.new("RGB", (64, 64), (index % 250, index // 250, 9)) for index in range(1000)]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    told = check(FuzzTarget(decode, list), data)
    assert "frames" in told


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def with_chunk(name: bytes, content: bytes) -> bytes:
    """A PNG with one more chunk before its pixels."""
    data = saved(Image.fromarray(np.full((8, 8, 3), 90, np.uint8)), "PNG")
    return data[:33] + _chunk(name, content) + data[33:]


ZEROS = zlib.compress(bytes(300_000_000), 9)


@pytest.mark.parametrize(
    "chunk",
    [
        (b"iCCP", b"p\0\0" + ZEROS),
        (b"zTXt", b"k\0\0" + ZEROS),
        (b"iTXt", b"k\0\1\0\0\0" + ZEROS),
        (b"tEXt", b"k\0" + b"x" * 5_000_000),
        (b"eXIf", b"MM\0*\0\0\0\x08" + b"\xff" * 1_000_000),
        (b"iCCP", b"p\0\0" + zlib.compress(b"\xff" * 1_000_000)),
    ],
    ids=["profile bomb", "text bomb", "international text bomb", "long text", "odd EXIF", "odd profile"],
)
def test_a_huge_chunk_costs_no_memory_and_changes_no_pixel(chunk: tuple[bytes, bytes]) -> None:
    data = with_chunk(*chunk)
    told = check(FuzzTarget(decode, list), data)  # within the limits of time and memory
    if told == "accepted":
        assert (decode(data).pixels == 90).all()
    else:
        assert "cannot be decoded" in told or "not a readable image" in told


def test_a_profile_of_jpeg_and_webp_may_be_anything() -> None:
    for kind in ("JPEG", "WEBP"):
        data = saved(Image.new("RGB", (8, 8)), kind, icc_profile=b"\xff" * 500_000)
        assert check(FuzzTarget(decode, list), data) == "accepted"


def test_text_limits_of_pillow_are_as_they_come() -> None:
    """Others may have raised them; the decoder relies on them for compressed texts."""
    assert PngImagePlugin.MAX_TEXT_CHUNK <= 1 << 20
    assert PngImagePlugin.MAX_TEXT_MEMORY <= 64 << 20
    assert not ImageFile.LOAD_TRUNCATED_IMAGES


def test_a_link_or_a_device_is_no_picture_of_a_folder(tmp_path: Path) -> None:
    from convergebench.images.folder import read_folder

    (tmp_path / "a.png").symlink_to("/dev/zero")
    (tmp_path / "b.png").write_bytes(saved(Image.new("RGB", (8, 8)), "PNG"))
    try:
        found = [image.id for image in read_folder(tmp_path).images]
    except StudyError as error:
        found = [str(error)]
    assert "a" not in found
