"""Texture goes while outlines stay: skin turns to wax, cloth to paint, grass to felt.

Where: 32-pixel squares of the source that have texture, which is what a slight blur removes from luma: the magnitude
that seven pixels in ten stay below, so that a few outlines do not count as texture. How: the median over these squares
of how much of that is left. Two things are allowed for. A picture that as a whole has less contrast has less
texture too, so what is left is divided by what is left of the strongest outlines (seen coarsely, where a little blur
does not matter). Noise that has grown hides a loss, so the variance added to the flattest squares is subtracted.

The threshold: 0.78 of the amplitude left. Saving as JPEG at 75, or at another size by a good filter, leaves 0.83 and
more of a photograph; a blur of 0.9 pixels leaves 0.4 to 0.65. At least half of the outlines' slope must stay: where
these are gone too, another failure is at work.

Cannot see: texture that was redrawn differently at the same strength; losses in less than half of the textured squares;
anything in a picture without texture (reported as `cannot_tell`).
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.failures._aligned_pair import AlignedPair, Tile, aligned_to_source, reduced
from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures._spectrum import soft, to_planes
from convergebench.failures.base import ChainView, Examination, detector
from convergebench.images.frame import Frame, Plane

LEFT = 0.78
"""Share of the amplitude under which texture counts as lost."""
OUTLINES = 0.5
"""Share of the outlines' slope that must be left."""
TEXTURED = 0.8
"""Least levels of a textured square."""
FEWEST = 4
"""Fewest textured squares for a measurement."""
SIDE, MOST = 32, 256
BLUR = 1.2
STAY_UNDER, GAUSSIAN = 0.7, 1.0364
"""Share of the pixels whose magnitude is taken, and what it is for Gaussian texture of standard deviation 1."""
FLATTEST = 1 / 4
LONGEST, COARSE = 384, 2.0
"""Longer side and blur at which outlines are measured."""
STRONGEST = 0.05
"""Share of the picture that the strongest slopes are."""


class _Left(NamedTuple):
    share: float
    outlines: float
    where: Tile


@detector(
    "texture-loss",
    level="noise",
    title="Texture loss",
    rule=(
        "less than 0.78 of the fine texture's amplitude is left in the source's textured squares, noise and contrast "
        "allowed for, while half of the outlines' slope is, for three steps in a row"
    ),
    paper="texture loss, texture simplification",
    version=2,
)
def texture_loss(chain: ChainView) -> Examination:
    """Fine texture fades while outlines stay."""

    def measure(index: int) -> StepScore | None:
        pair = aligned_to_source(chain, index)
        left = None if pair is None else _left(pair)
        if pair is None or left is None:
            return None
        lost = np.log(max(left.share, 1e-3)) / np.log(LEFT)
        return StepScore(
            float(max(0.0, lost)) if left.outlines >= OUTLINES else 0.0,
            {"texture": left.share, "outlines": left.outlines},
            f"{left.share:.0%} of the texture is left, and {min(1.0, left.outlines):.0%} of the outlines",
            pair.box(left.where, around=2.0),
        )

    return find_onset(chain, measure)


def _left(pair: AlignedPair) -> _Left | None:
    tiles = pair.tiles(SIDE, MOST)
    if len(tiles) < FEWEST:
        return None
    before = pair.source.derived(("texture", tuple(tiles)), lambda one: _variance(one, tiles))
    textured = np.flatnonzero(before >= TEXTURED**2)
    if textured.size < FEWEST:
        return None
    after = _variance(pair.step, tiles)
    flattest = np.argsort(before)[: max(FEWEST, round(len(tiles) * FLATTEST))]
    noise = max(0.0, float(np.median((after - before)[flattest])))
    kept = np.sqrt(np.maximum(0, after - noise)[textured] / before[textured])
    outlines = _slope(pair.step) / max(_slope(pair.source), 1e-6)
    shares = kept / min(1.0, outlines)
    return _Left(float(np.median(shares)), outlines, tiles[int(textured[shares.argmin()])])


def _variance(frame: Frame, tiles: list[Tile]) -> Plane:
    """Each square's variance of what a blur removes, outlines aside."""
    luma = to_planes(np.stack([tile.of(frame.pixels) for tile in tiles]))[:, 0]
    rest = np.abs(luma - soft(luma, BLUR)).reshape(len(tiles), -1)
    place = int(rest.shape[1] * STAY_UNDER)
    return np.square(np.partition(rest, place, axis=1)[:, place] / np.float32(GAUSSIAN))


def _slope(frame: Frame) -> float:
    """Mean slope of the strongest outlines, seen coarsely."""

    def make(one: Frame) -> float:
        grey = cv2.cvtColor(reduced(one, LONGEST), cv2.COLOR_RGB2GRAY)
        coarse = cv2.GaussianBlur(grey.astype(np.float32), (0, 0), COARSE)
        slope = cv2.magnitude(cv2.Sobel(coarse, cv2.CV_32F, 1, 0), cv2.Sobel(coarse, cv2.CV_32F, 0, 1)).ravel()
        count = max(1, round(slope.size * STRONGEST))
        return float(np.partition(slope, slope.size - count)[-count:].mean())

    return frame.derived("outline-slope", make)
