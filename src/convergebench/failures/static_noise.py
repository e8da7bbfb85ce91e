"""Static: fine noise over the picture that grows, as on a badly tuned television.

Where: the flattest third of 64-pixel squares of the source, so that texture neither hides the noise nor is taken for
it. How: two estimates of its standard deviation, in luma and in both colour differences, each robust against something
else. The *floor* is the median power in a ring of frequencies (two rings: grains of about two pixels, and of one):
regular patterns have a few strong frequencies and leave the median alone. The *spread* is the median magnitude of what
a blur takes away: specks and outlines touch few pixels and leave that median alone. Specks are clipped beforehand all
the same. The source's own noise is subtracted as a variance.

The threshold is 2 levels: noise of 2 to 3 levels is where people begin to see it on a plain wall. In pictures without
flat squares it rises to 0.6 of what is there already, since that much more texture is no evidence of noise. The score
is the smaller of the two estimates over the threshold, in the plane where that is largest.

Cannot see: noise in places that have texture in the source, noise coarser than about eight pixels, noise that was as
strong in the source; a step that is larger than its source is reduced first, which takes noise away.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.failures._aligned_pair import AlignedPair, Tile, aligned_to_source
from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures._spectrum import blurred_share, power, ring, soft, to_planes
from convergebench.failures.base import ChainView, Examination, detector
from convergebench.images.frame import Frame, Pixels, Plane

LEVELS = 2.0
"""Growth, as a standard deviation in 8-bit levels, that counts."""
OF_TEXTURE = 0.6
"""The same as a share of what the source's flattest squares hold already."""
SPREAD_OF_FLOOR = 0.9
"""The spread of soft grains is a little less than their floor, so it needs only this share of the threshold."""
SIDE, MOST = 64, 80
FLATTEST = 1 / 3
FEWEST = 4
"""Fewest squares for a measurement."""
GRAINS = ((0.12, 0.28), (0.28, 0.5))
"""Rings in cycles per pixel."""
BLUR = 1.5
CLIPPED, AT_LEAST = 3.0, 4.0
"""Spreads beyond which a pixel is a speck, and levels that are never one."""
_FROM_MEDIAN = 1.4826
_MEDIAN_OF_POWER = float(np.log(2))
"""Median over mean of the power of noise at one frequency (it is exponentially distributed)."""
PLANES = ("brightness", "blue against yellow", "red against green")


class _Growth(NamedTuple):
    score: float
    levels: float
    plane: int
    where: Tile


@detector(
    "static-noise",
    level="noise",
    title="Static noise",
    rule=(
        "fine noise in the source's flattest squares grows by more than 2 levels (and 0.6 of what is there already) "
        "for three steps in a row, by its spectrum's floor and by its median magnitude"
    ),
    paper="static noise",
)
def static_noise(chain: ChainView) -> Examination:
    """Fine noise over the whole picture that the source does not have."""

    def measure(index: int) -> StepScore | None:
        pair = aligned_to_source(chain, index)
        growth = None if pair is None else _growth(pair)
        if pair is None or growth is None:
            return None
        return StepScore(
            growth.score,
            {"noise": growth.levels, "score": growth.score},
            f"noise has grown by {growth.levels:.1f} levels (standard deviation) in {PLANES[growth.plane]}",
            pair.box(growth.where, around=2.0),
        )

    return find_onset(chain, measure)


def _growth(pair: AlignedPair) -> _Growth | None:
    tiles = pair.tiles(SIDE, MOST)
    if len(tiles) < FEWEST:
        return None
    before = pair.source.derived(("noise", tuple(tiles)), lambda one: _variances(one, tiles))
    # of each square's luma, in both rings
    order = np.argsort(before[:, 0, :2].sum(axis=-1))[: max(FEWEST, round(len(tiles) * FLATTEST))]
    before = before[order]
    after = _variances(pair.step, [tiles[place] for place in order])
    grown = np.sqrt(np.maximum(0, np.median(after - before, axis=0)))
    threshold = np.maximum(LEVELS, OF_TEXTURE * np.sqrt(np.median(before, axis=0)))
    shares = grown / threshold
    scores = np.minimum(shares[:, :2].max(axis=-1), shares[:, 2] / SPREAD_OF_FLOOR)
    plane = int(scores.argmax())
    worst = int((after - before)[:, plane, 2].argmax())
    return _Growth(float(scores[plane]), float(grown[plane, 2]), plane, tiles[int(order[worst])])


def _variances(frame: Frame, tiles: list[Tile]) -> Plane:
    """Tiles × planes × (floor of both rings, spread): three estimates of the noise's variance."""
    parts = np.stack([_unspecked(tile.of(frame.pixels)) for tile in tiles])
    planes = to_planes(parts, colour=True)
    side = planes.shape[-1]
    rest = planes - soft(planes, BLUR)
    spread = _FROM_MEDIAN * np.median(np.abs(rest), axis=(-2, -1))
    bound = CLIPPED * np.maximum(spread, 1)[..., None, None]
    spectrum = power(np.clip(rest, -bound, bound)) / np.square(1 - blurred_share(side, BLUR))
    floors = [np.median(spectrum[..., ring(side, *grains)], axis=-1) / _MEDIAN_OF_POWER for grains in GRAINS]
    return np.stack([*floors, np.square(spread)], axis=-1)


def _unspecked(part: Pixels) -> Pixels:
    """Clip single pixels far from their surroundings: an impulse has power at every frequency, as noise has."""
    middle = cv2.medianBlur(np.ascontiguousarray(part), 5).astype(np.int16)
    rest = part - middle
    spread = _FROM_MEDIAN * np.median(np.abs(rest).reshape(-1, 3), axis=0)
    bound = np.rint(np.maximum(AT_LEAST, CLIPPED * spread)).astype(np.int16)
    return np.asarray(middle + np.clip(rest, -bound, bound), np.uint8)
