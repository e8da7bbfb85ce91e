"""Scattered points: small specks, brighter, darker or of another colour than all around them.

How: a speck is what a morphological opening (bright) or closing (dark) of 7 pixels removes, in the channel where
that is most; it must exceed 24 levels and five times the mean residue around it, be no longer
than 8 pixels and no larger than 40. Outlines and lines are longer, and the grains of noise or moss do not stand out
from each other. It is new if the other picture has nothing half as high within 3 pixels. Textures that are redrawn
make new specks and lose old ones in equal number, so the count is new ones less lost ones, to the megapixel.

The threshold: 60 to the megapixel more than before, at least 10, and at least three times what chance would do to such
counts (the root of new and lost together).

Cannot see: specks on outlines or in rough texture, specks wider than 8 pixels or fainter than 24 levels, single ones.
Pictures longer than 1024 pixels are reduced to that first.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.failures._aligned_pair import AlignedPair, Tile, aligned_to_source, reduced
from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures.base import ChainView, Examination, detector
from convergebench.images.frame import Frame, Pixels, Plane
from convergebench.metrics._region import Mask

TO_THE_MEGAPIXEL = 60.0
"""New specks, less lost ones, that count."""
AT_LEAST, CHANCE = 10.0, 3.0
"""Fewest specks, and least multiple of the root of new and lost ones together, to count."""
HEIGHT, ABOVE_USUAL = 24.0, 5.0
"""Levels, and multiples of the residue around it, that a speck must exceed."""
AROUND = 41
"""Pixels a side over which residue is averaged."""
CLOSE, CALM = 13, 1.5
"""Side of the square around a speck, and how often its height must exceed the range of levels there, specks aside."""
ALONE = 0.6
"""Largest residue of anything else in that square, as a share of its height; where lines cross, the lines go on."""
OPENING = 7
LARGEST, WIDEST = 40, 8
"""Pixels that a speck may have, and its longer side."""
KNOWN, NEAR = 0.5, 7
"""Largest residue of the other picture within a square of this side for a speck to be new, as a share of its height."""
LONGEST = 1024
SQUARE = 64
"""Side of the square that is shown."""


Levels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Specks:
    residue: Levels
    near: Levels
    """The largest residue close by."""
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    heights: Plane


@detector(
    "scatter-points",
    level="noise",
    title="Scatter points",
    rule=(
        "isolated specks of up to 8 pixels that rise 24 levels: 60 to the megapixel more new than lost ones against "
        "the source, and three times what chance would do, for three steps in a row"
    ),
    paper="scatter points",
)
def scatter_points(chain: ChainView) -> Examination:
    """Isolated bright, dark or coloured specks that the source does not have."""

    def measure(index: int) -> StepScore | None:
        pair = aligned_to_source(chain, index)
        return None if pair is None else _reading(pair)

    return find_onset(chain, measure)


def _reading(pair: AlignedPair) -> StepScore:
    before, after = (one.derived("specks", _specks) for one in (pair.source, pair.step))
    free = _fitting(pair.untouched(), after.residue.shape)
    new, lost = _not_in(after, before, free), _not_in(before, after, free)
    count, gone = int(new.sum()), int(lost.sum())
    megapixels = max(1, int(free.sum())) / 1e6
    needed = max(TO_THE_MEGAPIXEL * megapixels, AT_LEAST, CHANCE * float(np.sqrt(count + gone)))
    height, width = after.residue.shape
    where = _densest(after.rows[new], after.columns[new], height, width)
    scale = pair.source.width / width
    tile = Tile(round(where.top * scale), round(where.left * scale), round(where.side * scale))
    return StepScore(
        max(0.0, (count - gone) / needed),
        {"specks": (count - gone) / megapixels, "new": count / megapixels, "lost": gone / megapixels},
        f"{count} new specks and {gone} lost ones on {megapixels:.2f} megapixels",
        pair.box(tile),
    )


def _specks(frame: Frame) -> _Specks:
    pixels = reduced(frame, LONGEST)
    square = np.ones((OPENING, OPENING), np.uint8)
    bright = cv2.morphologyEx(pixels, cv2.MORPH_TOPHAT, square)
    dark = cv2.morphologyEx(pixels, cv2.MORPH_BLACKHAT, square)
    red, green, blue = cv2.split(cv2.max(bright, dark))
    residue = np.asarray(cv2.max(cv2.max(red, green), blue), np.uint8)
    usual = cv2.blur(residue.astype(np.float32), (AROUND, AROUND))
    stands_out = (residue > HEIGHT) & (residue > ABOVE_USUAL * usual) & (residue > CALM * _range(pixels))
    count, numbered, facts, _ = cv2.connectedComponentsWithStats(stands_out.astype(np.uint8), connectivity=8)
    labels = np.asarray(numbered, np.int32)
    longer = np.maximum(facts[:, cv2.CC_STAT_WIDTH], facts[:, cv2.CC_STAT_HEIGHT])
    kept = (facts[:, cv2.CC_STAT_AREA] <= LARGEST) & (longer <= WIDEST)
    kept[0] = False
    heights = np.zeros(count, dtype=np.float32)
    np.maximum.at(heights, labels[stands_out], residue[stands_out])
    chosen = np.flatnonzero(kept & (_beside_specks(residue, kept[labels], labels, count) < ALONE * heights))
    rows = facts[chosen, cv2.CC_STAT_TOP] + facts[chosen, cv2.CC_STAT_HEIGHT] // 2
    columns = facts[chosen, cv2.CC_STAT_LEFT] + facts[chosen, cv2.CC_STAT_WIDTH] // 2
    near = np.asarray(cv2.dilate(residue, np.ones((NEAR, NEAR), np.uint8)), np.uint8)
    return _Specks(residue, near, rows.astype(np.intp), columns.astype(np.intp), heights[chosen])


def _beside_specks(residue: Levels, specks: Mask, labels: NDArray[np.int32], count: int) -> Plane:
    """For every speck, the largest residue around it that belongs to no speck: where lines cross there is some."""
    own = cv2.dilate(specks.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    around = cv2.dilate(np.where(own, 0, residue).astype(np.uint8), np.ones((CLOSE, CLOSE), np.uint8))
    largest = np.zeros(count, dtype=np.float32)
    np.maximum.at(largest, labels[specks], around[specks])
    return largest


def _range(pixels: Pixels) -> Plane:
    """Range of the levels around each pixel, specks left out."""
    without = cv2.medianBlur(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), 5)
    window = np.ones((CLOSE, CLOSE), np.uint8)
    return np.asarray(cv2.subtract(cv2.dilate(without, window), cv2.erode(without, window)), np.float32)


def _not_in(specks: _Specks, other: _Specks, free: Mask) -> Mask:
    """Which specks the other picture does not have."""
    rows, columns = specks.rows, specks.columns
    return np.asarray((other.near[rows, columns] < KNOWN * specks.heights) & free[rows, columns], np.bool_)


def _fitting(free: Mask, shape: tuple[int, ...]) -> Mask:
    if free.shape == shape:
        return free
    return cv2.resize(free.astype(np.uint8), (shape[1], shape[0]), interpolation=cv2.INTER_NEAREST) > 0


def _densest(rows: NDArray[np.intp], columns: NDArray[np.intp], height: int, width: int) -> Tile:
    side = min(SQUARE, height, width)
    counts = np.zeros((height // side + 1, width // side + 1), dtype=np.intp)
    np.add.at(counts, (rows // side, columns // side), 1)
    top, left = np.unravel_index(int(counts.argmax()), counts.shape)
    return Tile(min(int(top) * side, height - side), min(int(left) * side, width - side), side)
