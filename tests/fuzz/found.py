"""Inputs that once broke a reader, made from its first seed; the default suite feeds them again."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

Make = Callable[[bytes], bytes]


def _lists(depth: int) -> bytes:
    """Lists inside lists, as Thrift packs them."""
    return b"\x19" * depth


def _footer(content: bytes) -> bytes:
    """A Parquet file with this footer."""
    return b"PAR1" + content + struct.pack("<I", len(content)) + b"PAR1"


def _without(start: int, length: int) -> Make:
    return lambda seed: seed[:start] + seed[start + length :]


def _bad_name(seed: bytes) -> bytes:
    """A zip file with a name that claims to be UTF-8 and is not."""
    place = seed.index(b"PK\x01\x02")
    return seed[: place + 9] + b"\x08" + seed[place + 10 : place + 46] + b"\xff" + seed[place + 47 :]


FOUND: Mapping[str, Sequence[Make]] = {
    "thrift": [lambda _: _lists(3000)],  # deep lists were not bounded: RecursionError
    "parquet-bounds": [lambda _: _footer(_lists(3000))],
    "parquet-cell": [lambda _: b"PAR1"],  # polars' own error, several lines
    "hub-parquet": [lambda _: b"PAR1"],
    "hub-arrow": [_without(8, 521)],  # polars panics
    "package": [
        _without(30, 1),  # a directory that begins before its file: OSError
        _bad_name,
    ],
    "onnx-size": [lambda _: b"", lambda _: b"\x08" + b"\x80" * 50_000],  # no graph; a number without an end
    "npm-page": [lambda _: b"[" * 100_000, lambda seed: seed.replace(b"sha512-AAAA", b"sha512-\xc3\xa9")],
    "svm": [lambda _: b"x", lambda _: b"\xff", lambda seed: seed.replace(b"36:1", b"37:1")],
    "pickle": [lambda _: b"\x80\x04]r" + struct.pack("<I", 90_000_000) + b"."],  # a place far behind: gigabytes
    "run-journal": [lambda seed: seed[:9000] + b"\xff" * 8 + seed[9000:]],  # SQLite's report has several lines
}
