"""The header of a PNG file, read without decoding pixels.

Runs are stored as PNG, hence a reader for it: it detects damage and truncation exactly (every chunk has a checksum)
and decides which files the fast decoder can read.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_SPECIAL = frozenset({b"iCCP", b"tRNS", b"eXIf", b"acTL", b"cICP"})
_TRUE_COLOUR = 2


class PngHeader(NamedTuple):
    """The facts of one PNG file."""

    width: int
    height: int
    bit_depth: int
    colour_type: int
    special: frozenset[bytes]
    """Chunks that change how the samples are read: profile, transparency, orientation, animation."""

    @property
    def plain(self) -> bool:
        """8-bit RGB without chunks that change how samples are read."""
        return self.bit_depth == 8 and self.colour_type == _TRUE_COLOUR and not self.special


class Damaged(ValueError):
    """The bytes are truncated or fail a checksum; the message says which."""


def read_png_header(data: bytes) -> PngHeader:
    """Walk all chunks of a PNG, verify their checksums and return its header."""
    special: set[bytes] = set()
    first: tuple[int, int, int, int] | None = None
    view, position, end = memoryview(data), len(SIGNATURE), len(data)
    while True:
        if position + 12 > end:
            raise Damaged("is cut short")
        length, name = struct.unpack_from(">I4s", data, position)
        stop = position + 8 + length
        if stop + 4 > end:
            raise Damaged("is cut short")
        (expected,) = struct.unpack_from(">I", data, stop)
        if zlib.crc32(view[position + 4 : stop]) != expected:
            raise Damaged("is damaged (a checksum does not match)")
        if first is None:
            if name != b"IHDR" or length != 13:
                raise Damaged("is damaged (no PNG header)")
            first = struct.unpack_from(">IIBB", data, position + 8)
        elif name == b"IEND":
            return PngHeader(*first, frozenset(special))
        elif name in _SPECIAL:
            special.add(name)
        position = stop + 4
