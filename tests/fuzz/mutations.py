"""Deterministic mutations of seeds, for machines without a coverage-guided fuzzer."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

EDGES = (0, 1, 2, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 254, 255)
WORDS = (
    *(b"\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\xff\xff\xff\x7f", b"\n", b"\r", b'"'),
    *(b"null", b"true", b"{}", b"[]", b"-1", b"1e999", b"NaN", b"Infinity", b"9" * 400, b"\\ud800", b"\xed\xa0\x80"),
    *(b"../", b"/etc/passwd", b"[" * 3000, b"{'a':" * 50, b"=1+1", b"<script>", b"\xe2\x80\xa8", b"\x1b[2J"),
)


def mutations(seeds: Sequence[bytes], number: int, *, seed: int = 0) -> Iterator[bytes]:
    """So many changed copies of the seeds; the same ones every time."""
    source = random.Random(seed)
    for turn in range(number):
        data = bytearray(seeds[turn % len(seeds)])
        for _ in range(source.choice((1, 1, 1, 2, 4))):
            data = _mutated(data, seeds, source)
        yield bytes(data)


def _mutated(data: bytearray, seeds: Sequence[bytes], source: random.Random) -> bytearray:
    place = source.randrange(len(data) + 1)
    match source.randrange(8):
        case 0 if data:
            data[place % len(data)] ^= 1 << source.randrange(8)
        case 1 if data:
            data[place % len(data)] = source.choice(EDGES)
        case 2:
            del data[place:]
        case 3:
            del data[place : place + source.choice((1, 2, 4, 16, 200))]
        case 4:
            data[place:place] = source.choice(WORDS)
        case 5:
            word = source.choice(WORDS)
            data[place : place + len(word)] = word
        case 6:
            size = source.choice((1, 4, 16, 64))
            data[place:place] = data[place : place + size] * source.choice((1, 2, 50))
        case _:
            other = source.choice(seeds)
            data = data[:place] + other[source.randrange(len(other) + 1) :]
    return data
