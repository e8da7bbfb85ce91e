"""The pictures that failures are planted into, and which of them thresholds were chosen on.

Photographs and drawings of the `quick` and `builtin` suites, reduced to `LONGEST` pixels. Two drawings by one recipe
are alike, and `quick` holds small versions of `builtin`, so the halves are cut by recipe (or photograph), never by
file.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np

from convergebench.images.decode import decode
from convergebench.images.frame import Pixels
from convergebench.images.suite import load_suite
from convergebench.types import SourceImage

LONGEST = 512


class Picture(NamedTuple):
    """One picture and its half."""

    name: str
    split: str
    image: SourceImage

    @property
    def pixels(self) -> Pixels:
        """Its pixels, reduced."""
        return _reduced(self.image)


def pictures(limit: int) -> list[Picture]:
    """At most `limit` pictures, halves and kinds in balance: one of every recipe or photograph, then more."""
    builtin, quick = load_suite("builtin").images, load_suite("quick").images
    photographs = [one for one in builtin if not _drawn(one)]
    firsts = [one for one in builtin if _drawn(one) and one.id.endswith("-01")]
    small = [one for one in quick if not any(one.id == other.id for other in photographs)]
    seconds = [one for one in builtin if one.id.endswith("-02")]
    halves = _halves([*photographs, *firsts])
    # a photograph, then two drawings, and so on: the first few pictures are already a mixture
    rows = [*_interleaved(photographs, firsts), *small, *seconds]
    chosen = _balanced(rows, halves)[:limit]
    return [Picture(_name(one, builtin), halves[_family(one)], one) for one in chosen]


def _drawn(image: SourceImage) -> bool:
    return image.source.startswith("drawn")


def _family(image: SourceImage) -> str:
    return re.sub(r"-\d\d$", "", image.id)


def _name(image: SourceImage, builtin: tuple[SourceImage, ...]) -> str:
    return image.id if image in builtin else f"{image.id}-small"


def _halves(images: list[SourceImage]) -> dict[str, str]:
    """Every other photograph and every other recipe."""
    groups = [one for one in images if not _drawn(one)], [one for one in images if _drawn(one)]
    return {_family(one): ("development", "test")[place % 2] for group in groups for place, one in enumerate(group)}


def _interleaved(photographs: list[SourceImage], drawings: list[SourceImage]) -> list[SourceImage]:
    rows: list[SourceImage] = []
    left, right = list(photographs), list(drawings)
    while left or right:
        rows += [*left[:1], *right[:2]]
        left, right = left[1:], right[2:]
    return rows


def _balanced(rows: list[SourceImage], halves: dict[str, str]) -> list[SourceImage]:
    """The same pictures, development and test by turns while there are both."""
    both = [[one for one in rows if halves[_family(one)] == half] for half in ("development", "test")]
    turns = [one for pair in zip(*both, strict=False) for one in pair]
    return [*turns, *(one for one in rows if one not in turns)]


@lru_cache(maxsize=4)
def _reduced(image: SourceImage) -> Pixels:
    pixels = decode(image.read(), what=image.id).pixels
    factor = min(1.0, LONGEST / max(pixels.shape[:2]))
    size = round(pixels.shape[1] * factor), round(pixels.shape[0] * factor)
    smaller = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    smaller.setflags(write=False)  # many chains start from it
    return smaller
