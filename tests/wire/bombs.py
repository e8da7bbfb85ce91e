"""Small bodies that unpack to gigabytes."""

from __future__ import annotations

import gzip
import zlib
from functools import cache


@cache
def bomb(layers: int, megabytes: int = 10_000) -> bytes:
    """So many megabytes of spaces, packed so often; one packed megabyte is repeated, which takes no time."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    head = packer.compress(b" " * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(b" " * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = head + again * megabytes
    for _ in range(layers - 1):
        packed = gzip.compress(packed, 6)
    return packed


def packing(layers: int) -> dict[str, str]:
    """The header that tells of it."""
    return {"Content-Encoding": ", ".join(["gzip"] * layers)}
