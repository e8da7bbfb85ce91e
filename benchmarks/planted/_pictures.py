"""The photographs that failures are planted into, and which of them thresholds may be chosen on.

They come from the suite `builtin`, reduced to `LONGEST` pixels. A picture's half follows from a hash of its id, so it
never changes when pictures are added; kinds (faces, objects, scenes) take turns, so a few pictures are already a
mixture. Pictures that cannot be read (not fetched) are left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import cv2
import numpy as np

from convergebench.errors import ConvergeBenchError
from convergebench.images.decode import decode
from convergebench.images.frame import Pixels
from convergebench.images.suite import load_suite
from convergebench.types import SourceImage

SUITE = "builtin"
LONGEST = 512
HALVES = ("development", "test")


class Picture(NamedTuple):
    """One photograph and its half."""

    name: str
    split: str
    image: SourceImage

    @property
    def pixels(self) -> Pixels:
        """Its pixels, reduced."""
        return _reduced(self.image)


def pictures(limit: int, half: str = "test") -> list[Picture]:
    """At most `limit` readable pictures of a half, kinds by turns."""
    return list(islice(_readable(half), limit))


def picture_named(name: str) -> Picture | None:
    """The picture with this id; None where the suite has none, or it cannot be read."""
    image = next((one for one in load_suite(SUITE, partial=True).images if one.id == name), None)
    if image is None:
        return None
    try:
        _reduced(image)
    except ConvergeBenchError:
        return None
    return Picture(name, half_of(name), image)


def half_of(name: str) -> str:
    """The half of the picture with this id."""
    return HALVES[_digest(name)[0] % 2]


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def _readable(half: str) -> Iterator[Picture]:
    for image in _in_turn(half):
        try:
            _reduced(image)
        except ConvergeBenchError:
            continue
        yield Picture(image.id, half_of(image.id), image)


def _in_turn(half: str) -> Iterator[SourceImage]:
    """One picture of each kind after the other, in the order of their hashes."""
    images = sorted(load_suite(SUITE, partial=True).images, key=lambda one: _digest(one.id))
    groups: dict[str, list[SourceImage]] = {}
    for one in images:
        if half_of(one.id) == half:
            groups.setdefault(one.kind, []).append(one)
    rows = [groups[kind] for kind in sorted(groups)]
    for place in range(max(map(len, rows), default=0)):
        yield from (row[place] for row in rows if place < len(row))


@lru_cache(maxsize=16)
def _reduced(image: SourceImage) -> Pixels:
    pixels = decode(image.read(), what=image.id).pixels
    factor = min(1.0, LONGEST / max(pixels.shape[:2]))
    size = round(pixels.shape[1] * factor), round(pixels.shape[0] * factor)
    smaller = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    smaller.setflags(write=False)  # many chains start from it
    return smaller
