"""Square patches of large pictures, for training: at the same places in every step, so that decay can be followed.

Places belong to a source image: they are drawn once, as shares of its width and height, and used for every step of its
chains. A patch is `side` pixels at any picture size, never resampled. If a step was asked to flip or rotate the
picture, its places are flipped or rotated too.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from convergebench.datasets.fields import PATCHES, PLACE, RIGHTS
from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.store.queries.exporting import ChainFacts

CANDIDATES = 16
"""Places drawn per patch; the one farthest from those already chosen is taken, so that patches spread."""


class PatchCentre(NamedTuple):
    """The centre of a patch, as shares of width and height."""

    x: float
    y: float


class CutPatch(NamedTuple):
    """One patch of a picture."""

    number: int
    x: int
    y: int
    png: bytes


MOVED: Mapping[str, Callable[[PatchCentre], PatchCentre]] = {
    "flip-horizontal": lambda place: PatchCentre(1 - place.x, place.y),
    "flip-vertical": lambda place: PatchCentre(place.x, 1 - place.y),
    "rotate-90": lambda place: PatchCentre(1 - place.y, place.x),
    "rotate-180": lambda place: PatchCentre(1 - place.x, 1 - place.y),
    "rotate-270": lambda place: PatchCentre(place.y, 1 - place.x),
}
"""Operation → the new place of a patch; `rotate-90` is clockwise."""


@dataclass(frozen=True)
class PatchPlan:
    """How many patches of which size."""

    side: int
    count: int = 4
    seed: int = 0

    def places(self, source: str, width: int, height: int) -> tuple[PatchCentre, ...]:
        """Where the pictures of a source image (by its sha256) are cut."""
        key = hashlib.sha256(f"{self.seed}:{source}:{self.side}".encode()).digest()
        draw = random.Random(key)
        chosen: list[PatchCentre] = []
        for _ in range(self.count):
            candidates = [self._drawn(draw, width, height) for _ in range(CANDIDATES)]
            chosen.append(max(candidates, key=lambda place: _nearest(place, chosen, width, height)))
        return tuple(chosen)

    def _drawn(self, draw: random.Random, width: int, height: int) -> PatchCentre:
        def share(length: int) -> float:
            return (draw.randint(0, length - self.side) + self.side / 2) / length

        return PatchCentre(share(width), share(height))

    def cuts(self, data: bytes, places: Sequence[PatchCentre], what: str) -> list[CutPatch]:
        """The patches of one picture."""
        pixels = decode(data, what=what, alpha="white").pixels
        height, width = pixels.shape[:2]
        found = []
        for index, place in enumerate(places):
            x, y = _edge(place.x, width, self.side), _edge(place.y, height, self.side)
            part: Pixels = np.ascontiguousarray(pixels[y : y + self.side, x : x + self.side])
            found.append(CutPatch(index, x, y, encode_png(part, compression=3)))
        return found

    def require_fitting(self, smallest: tuple[int, int], what: str) -> None:
        """Every picture must hold a whole patch."""
        if self.side > min(smallest):
            raise StudyError(
                f"--patches {self.side} does not fit {what} ({smallest[0]} × {smallest[1]} pixels); "
                f"use --patches {min(smallest)} or less"
            )


def moved(places: Sequence[PatchCentre], operation: str | None) -> tuple[PatchCentre, ...]:
    """The places after an operation; unchanged if it moves no pixels."""
    move = MOVED.get(operation or "")
    return tuple(places if move is None else map(move, places))


def _edge(share: float, length: int, side: int) -> int:
    return min(max(round(share * length - side / 2), 0), length - side)


def _nearest(place: PatchCentre, others: Sequence[PatchCentre], width: int, height: int) -> float:
    return min(
        (((place.x - one.x) * width) ** 2 + ((place.y - one.y) * height) ** 2 for one in others),
        default=float("inf"),
    )


class Patcher:
    """Makes the records of patches, following the places of a chain from picture to picture."""

    def __init__(self, plan: PatchPlan) -> None:
        self._plan = plan
        self._chain = ""
        self._places: dict[int, tuple[PatchCentre, ...]] = {}
        """By step of the current chain."""

    def of(self, chain: ChainFacts, record: Mapping[str, Any], data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The patches of one record's picture; records of a chain come in order, its source first."""
        if chain.id != self._chain:
            source = chain.picture
            self._chain = chain.id
            self._places = {0: self._plan.places(source.sha256, source.width, source.height)}
        index = record["step_index"]
        if index:
            parent = self._places.get(record["parent_step"], self._places[0])
            self._places[index] = moved(parent, record["operation"])
        common = {field.name: record[field.name] for field in (*PLACE, *RIGHTS)}
        for cut in self._plan.cuts(data, self._places[index], what=record["id"]):
            values = {
                **common,
                "id": f"{record['id']}#{cut.number}",
                "parent_id": record["id"],
                "patch_index": cut.number,
                "x": cut.x,
                "y": cut.y,
                "side": self._plan.side,
                "sha256": hashlib.sha256(cut.png).hexdigest(),
                "parent_sha256": record["sha256"],
            }
            yield {name: values[name] for name in PATCHES.columns}, cut.png
