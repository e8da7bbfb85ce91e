"""A step's picture and the source brought to one scale, cut to what both show and divided into comparable tiles.

Editors return other sizes and crops. The finer of the two is reduced to the scale of the coarser, so that a pixel means
the same in both; nothing is enlarged, and a mere shift is not resampled. Where the two cannot be registered (heavy
damage prevents it), they are overlaid by their sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
from PIL import Image

from convergebench.errors import Unmeasurable
from convergebench.failures.base import Box, ChainView
from convergebench.images.align import CONFIDENT
from convergebench.images.frame import Frame, Pixels
from convergebench.images.registration import Registration, register
from convergebench.metrics._region import Mask, changed_region
from convergebench.types import Operation

SAME_SCALE = 0.02
"""Relative difference of scale under which nothing is resampled: resampling costs fine detail more than that."""
SNAPPED = 0.005
"""Relative difference under which the ratio of the two sizes replaces an estimated scale."""
MOVED = 0.75
"""Pixels of shift under which pictures of one size are compared without moving them."""
UNTOUCHED = 0.1
"""Largest share of a tile that an addition may cover for the tile to count as untouched."""
SMALLEST = 64
"""Pixels a side that the common part must have."""


class Tile(NamedTuple):
    """Upper left corner and side of a square, in pixels of the common part."""

    top: int
    left: int
    side: int

    def of(self, pixels: Pixels) -> Pixels:
        """The pixels inside the tile."""
        return pixels[self.top : self.top + self.side, self.left : self.left + self.side]


@dataclass(frozen=True)
class AlignedPair:
    """A step's picture in the source's orientation and the source, at equal size."""

    step: Frame
    source: Frame
    scale: float
    """Pixels of the returned picture per pixel of `step`: 1, or more where it was reduced."""
    part: Box
    """The part of the step's upright picture that `step` shows."""
    orientation: Operation | None
    changed: Mask | None
    """Grid cells that an addition covers; None where everything may be compared."""

    def tiles(self, side: int, most: int) -> list[Tile]:
        """At most `most` squares, spread evenly, that no addition covers; in small pictures they overlap by half."""
        height, width = self.source.height, self.source.width
        side = min(side, height, width)
        apart = side if (height // side) * (width // side) >= most / 2 else side // 2
        rows, columns = _starts(height, side, apart), _starts(width, side, apart)
        every = [Tile(top, left, side) for top in rows for left in columns]
        free = [tile for tile in every if self._covered(tile) <= UNTOUCHED]
        if len(free) <= most:
            return free
        return [free[int(place)] for place in np.linspace(0, len(free) - 1, most)]

    def untouched(self) -> Mask:
        """Per pixel, whether it may be compared."""
        if self.changed is None:
            return np.ones((self.source.height, self.source.width), dtype=np.bool_)
        size = self.source.width, self.source.height
        covered = cv2.resize(self.changed.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
        return np.asarray(covered == 0, np.bool_)

    def box(self, tile: Tile, *, around: float = 1.0) -> Box:
        """The tile, enlarged `around` times, as a box in the step's picture as returned."""
        width, height = self.source.width, self.source.height
        more = tile.side * (around - 1) / 2
        left, right = max(0.0, tile.left - more), min(width, tile.left + tile.side + more)
        top, bottom = max(0.0, tile.top - more), min(height, tile.top + tile.side + more)
        return self.as_returned(Box(left / width, top / height, (right - left) / width, (bottom - top) / height))

    def as_returned(self, box: Box) -> Box:
        """A box in shares of the common part as a box in the step's picture as returned."""
        upright = Box(
            self.part.x + box.x * self.part.width,
            self.part.y + box.y * self.part.height,
            box.width * self.part.width,
            box.height * self.part.height,
        )
        return box_as_returned(upright, self.orientation)

    def _covered(self, tile: Tile) -> float:
        if self.changed is None:
            return 0.0
        rows, columns = self.changed.shape
        down, across = rows / self.source.height, columns / self.source.width
        cells = self.changed[
            int(tile.top * down) : max(int(tile.top * down) + 1, round((tile.top + tile.side) * down)),
            int(tile.left * across) : max(int(tile.left * across) + 1, round((tile.left + tile.side) * across)),
        ]
        return float(cells.mean())


def aligned_to_source(chain: ChainView, index: int) -> AlignedPair | None:
    """The step aligned with the source; None where too little is common to both."""
    view = chain.steps[index]
    step, source = chain.upright(index), chain.frame(0)
    found = registered(step, source)
    step, source, scale, part = _common(step, source, found)
    if min(source.size) < SMALLEST:
        return None
    changed = None
    if view.compared == "around":
        region = changed_region(step, source)
        changed = None if region is None else region.mask
    return AlignedPair(step, source, scale, part, view.orientation, changed)


def box_as_returned(box: Box, orientation: Operation | None) -> Box:
    """Map a box from the upright picture to the picture as the editor returned it."""
    x, y, width, height = box
    match orientation:
        case "flip-horizontal":
            return Box(1 - x - width, y, width, height)
        case "flip-vertical":
            return Box(x, 1 - y - height, width, height)
        case "rotate-180":
            return Box(1 - x - width, 1 - y - height, width, height)
        case "rotate-90":
            return Box(1 - y - height, x, height, width)
        case "rotate-270":
            return Box(y, 1 - x - width, height, width)
        case _:
            return box


def reduced(frame: Frame, longest: int) -> Pixels:
    """The picture with its longer side at most `longest`, by averaging; cached."""

    def make(one: Frame) -> Pixels:
        factor = min(1.0, longest / max(one.size))
        size = max(1, round(one.width * factor)), max(1, round(one.height * factor))
        return np.asarray(cv2.resize(one.pixels, size, interpolation=cv2.INTER_AREA), np.uint8)

    return frame.derived(("reduced", longest), make)


def _shrunk(pixels: Pixels, across: float, down: float | None = None) -> Pixels:
    size = max(1, round(pixels.shape[1] * across)), max(1, round(pixels.shape[0] * (across if down is None else down)))
    if size == (pixels.shape[1], pixels.shape[0]):
        return pixels
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS), np.uint8)


def _starts(length: int, side: int, apart: int) -> list[int]:
    """Where squares begin along one side, centred."""
    count = (length - side) // apart + 1
    first = (length - side - (count - 1) * apart) // 2
    return [first + place * apart for place in range(count)]


def registered(step: Frame, source: Frame) -> Registration:
    """Where the source is in the step; laid over each other by their sizes where that cannot be told."""
    try:
        found = register(step, source)
    except Unmeasurable:
        found = None
    if found is None or found.confidence < CONFIDENT:
        return Registration(step.width / source.width, step.height / source.height, 0.0, 0.0, 0.0, 0.0)
    return found


class _Common(NamedTuple):
    step: Frame
    source: Frame
    scale: float
    part: Box


def _common(step: Frame, source: Frame, found: Registration) -> _Common:
    scale_x = _snapped(found.scale_x, step.width / source.width)
    scale_y = _snapped(found.scale_y, step.height / source.height)
    moved = max(abs(found.shift_x), abs(found.shift_y))
    if abs(scale_x - 1) < SAME_SCALE and abs(scale_y - 1) < SAME_SCALE:
        scale_x = scale_y = 1.0
    if step.size == source.size and scale_x == scale_y == 1.0 and moved < MOVED:
        return _Common(step, source, 1.0, Box(0, 0, 1, 1))
    own = step.size
    scale = max(1.0, (scale_x * scale_y) ** 0.5)
    if found.scale > 1:
        step = Frame(_shrunk(step.pixels, 1 / scale_x, 1 / scale_y), step.id)
        shift_x, shift_y = found.shift_x, found.shift_y
    else:
        shift_x, shift_y = found.shift_x * scale_x, found.shift_y * scale_y
        source = source.derived(("scaled", scale_x, scale_y), lambda one: Frame(_shrunk(one.pixels, scale_x, scale_y)))
    # both have one scale now; the remaining shift of the centres is taken in whole pixels
    x = _overlap(step.width, source.width, shift_x)
    y = _overlap(step.height, source.height, shift_y)
    cut = Frame(np.ascontiguousarray(step.pixels[y.own : y.own + y.length, x.own : x.own + x.length]), step.id)
    source_part = source.derived(
        ("cut", x, y),
        lambda one: Frame(
            np.ascontiguousarray(one.pixels[y.other : y.other + y.length, x.other : x.other + x.length]), one.id
        ),
    )
    in_own = scale_x if found.scale > 1 else 1.0, scale_y if found.scale > 1 else 1.0
    part = Box(
        x.own * in_own[0] / own[0],
        y.own * in_own[1] / own[1],
        min(1.0, x.length * in_own[0] / own[0]),
        min(1.0, y.length * in_own[1] / own[1]),
    )
    return _Common(cut, source_part, scale, part)


def _snapped(scale: float, ratio: float) -> float:
    """The ratio of sizes if the estimate is close to it, so that the reduced source is shared by all steps."""
    return ratio if abs(scale / ratio - 1) < SNAPPED else scale


class _Overlap(NamedTuple):
    own: int
    other: int
    length: int


def _overlap(own: int, other: int, shift: float) -> _Overlap:
    """The overlap of two rows of pixels whose centres are `shift` apart."""
    offset = round(own / 2 + shift - other / 2)  # the other's pixel 0 is at the own pixel `offset`
    start, stop = max(0, offset), min(own, other + offset)
    return _Overlap(start, start - offset, max(0, stop - start))
