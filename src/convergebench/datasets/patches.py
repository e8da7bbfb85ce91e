"""Square cuts out of large pictures, for training: at the same places in every step, so that decay can be followed.

Places belong to a source image: they are drawn once, as shares of its width and height, and every chain and every step
made from it is cut there. A cut is `side` pixels whatever the picture's size, never resampled. Where a step was asked
to mirror or turn the picture, the place is mirrored or turned along, as it should lie if all went well.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels

CANDIDATES = 16
"""Of so many drawn places the one farthest from those already chosen is taken, so that cuts spread."""


class Place(NamedTuple):
    """The middle of a cut, as shares of width and height."""

    x: float
    y: float


class Cut(NamedTuple):
    """One patch of a picture."""

    number: int
    x: int
    y: int
    png: bytes


MOVED: Mapping[str, Callable[[Place], Place]] = {
    "flip-horizontal": lambda place: Place(1 - place.x, place.y),
    "flip-vertical": lambda place: Place(place.x, 1 - place.y),
    "rotate-90": lambda place: Place(1 - place.y, place.x),
    "rotate-180": lambda place: Place(1 - place.x, 1 - place.y),
    "rotate-270": lambda place: Place(place.y, 1 - place.x),
}
"""Where a place lies after the picture was mirrored or turned; `rotate-90` is a quarter turn clockwise."""


@dataclass(frozen=True)
class PatchPlan:
    """How many cuts of which size."""

    side: int
    count: int = 4
    seed: int = 0

    def places(self, source: str, width: int, height: int) -> tuple[Place, ...]:
        """Where the pictures of a source image (by its sha256) are cut."""
        key = hashlib.sha256(f"{self.seed}:{source}:{self.side}".encode()).digest()
        draw = random.Random(key)
        chosen: list[Place] = []
        for _ in range(self.count):
            candidates = [self._drawn(draw, width, height) for _ in range(CANDIDATES)]
            chosen.append(max(candidates, key=lambda place: _nearest(place, chosen, width, height)))
        return tuple(chosen)

    def _drawn(self, draw: random.Random, width: int, height: int) -> Place:
        def share(length: int) -> float:
            return (draw.randint(0, length - self.side) + self.side / 2) / length

        return Place(share(width), share(height))

    def cuts(self, data: bytes, places: Sequence[Place], what: str) -> list[Cut]:
        """The patches of one picture."""
        pixels = decode(data, what=what, alpha="white").pixels
        height, width = pixels.shape[:2]
        found = []
        for index, place in enumerate(places):
            x, y = _edge(place.x, width, self.side), _edge(place.y, height, self.side)
            part: Pixels = np.ascontiguousarray(pixels[y : y + self.side, x : x + self.side])
            found.append(Cut(index, x, y, encode_png(part, compression=3)))
        return found

    def require_fitting(self, smallest: tuple[int, int], what: str) -> None:
        """Every picture must hold a whole patch."""
        if self.side > min(smallest):
            raise StudyError(
                f"--patches {self.side} does not fit {what} ({smallest[0]} × {smallest[1]} pixels); "
                f"use --patches {min(smallest)} or less"
            )


def moved(places: Sequence[Place], operation: str | None) -> tuple[Place, ...]:
    """Where they lie after an operation; one that moves no pixels leaves them."""
    move = MOVED.get(operation or "")
    return tuple(places if move is None else map(move, places))


def _edge(share: float, length: int, side: int) -> int:
    return min(max(round(share * length - side / 2), 0), length - side)


def _nearest(place: Place, others: Sequence[Place], width: int, height: int) -> float:
    return min(
        (((place.x - one.x) * width) ** 2 + ((place.y - one.y) * height) ** 2 for one in others),
        default=float("inf"),
    )
