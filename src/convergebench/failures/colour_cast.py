"""A cast: all colours move the same way, as if a coloured filter lay over the picture.

How: both pictures, 96 pixels long, in CIELAB. The change of a* and b* at each pixel is explained by two terms:
a shift that is the same everywhere, which is the cast, and a change of saturation, which is not. Both are fitted
together, with less and less weight for pixels that do not fit (a thing that changed its colour); without the second
term, a fading picture of red things would be called greenish. Nearly black and nearly white pixels are left out, since
colour cannot show there. In a picture of a single colour the two terms cannot be separated, and the shift takes all
of the change.

The threshold is a shift of 3, which is just visible when two pictures are side by side. The fitted shift at grey and
the mean shift of the picture's own colours must both reach it and point the same way: colours that converge show only
the first, colours that fade only the second. The cast is named after its direction in the a*b* plane.

Cannot see: casts of light alone (brighter, darker), casts of one corner, a cast in a picture that is nearly black or
white.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.failures._aligned_pair import AlignedPair, aligned_to_source, reduced
from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures.base import ChainView, Examination, detector
from convergebench.images.frame import Frame, Plane

SHIFT = 3.0
"""Length of the common shift in the a*b* plane that counts."""
LONGEST = 96
DARKEST, LIGHTEST = 6.0, 97.0
"""L* between which a pixel can show a colour."""
FEWEST = 0.05
"""Share of the picture that must be between them."""
STEADY = 4.0
"""Variance of colour below which a change of saturation cannot be measured: 2 units, squared."""
ROUNDS = 5
WORDS = ("red", "orange", "yellow", "yellow-green", "green", "cyan", "blue", "violet", "magenta")
DIRECTIONS = (20.0, 55.0, 90.0, 125.0, 165.0, 215.0, 270.0, 305.0, 340.0)
"""Hue angles of these words in the a*b* plane, in degrees."""


class _Cast(NamedTuple):
    a: float
    b: float
    paler: float

    @property
    def length(self) -> float:
        return float(np.hypot(self.a, self.b))

    @property
    def word(self) -> str:
        hue = np.degrees(np.arctan2(self.b, self.a)) % 360
        apart = [abs((hue - direction + 180) % 360 - 180) for direction in DIRECTIONS]
        return WORDS[int(np.argmin(apart))]


@detector(
    "colour-cast",
    level="noise",
    title="Colour cast",
    rule=(
        "all colours shift together by more than 3 in the a*b* plane against the source, fading set apart, for three "
        "steps in a row"
    ),
    paper="greenish tint",
)
def colour_cast(chain: ChainView) -> Examination:
    """A tint over the whole picture."""

    def measure(index: int) -> StepScore | None:
        pair = aligned_to_source(chain, index)
        cast = None if pair is None else _cast(pair)
        if cast is None:
            return None
        return StepScore(
            cast.length / SHIFT,
            {"cast": cast.length, "a": cast.a, "b": cast.b, "saturation": 1 + cast.paler},
            f"a {cast.word} cast: the colours have moved by {cast.length:.1f} together "
            f"(a* {cast.a:+.1f}, b* {cast.b:+.1f})",
        )

    return find_onset(chain, measure)


def _lab(frame: Frame) -> Plane:
    small = reduced(frame, LONGEST).astype(np.float32) / np.float32(255)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2LAB), np.float32)


def _cast(pair: AlignedPair) -> _Cast | None:
    before = pair.source.derived("cast", _lab)
    after = _lab(pair.step)
    shows = np.ones(before.shape[:2], dtype=np.bool_)
    for each in (before, after):
        shows &= (each[..., 0] > DARKEST) & (each[..., 0] < LIGHTEST)
    if pair.changed is not None:
        size = before.shape[1], before.shape[0]
        shows &= cv2.resize(pair.changed.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) == 0
    if shows.mean() < FEWEST:
        return None
    colours, moved = before[shows][:, 1:], (after - before)[shows][:, 1:]
    weights = np.ones(len(colours), dtype=np.float32)
    shift = mean = moved.mean(axis=0)
    paler = 0.0
    for _ in range(ROUNDS):
        total = weights.sum()
        middle, mean = (weights @ colours) / total, (weights @ moved) / total
        apart = colours - middle
        variance = float(weights @ np.square(apart).sum(axis=1)) / total
        together = float(weights @ (apart * (moved - mean)).sum(axis=1)) / total
        paler = together / (variance + STEADY)
        shift = mean - paler * middle
        misfit = np.sqrt(np.square(moved - shift - paler * colours).sum(axis=1))
        spread = max(0.5, float(np.median(misfit)))
        weights = (1 / (1 + np.square(misfit / (2 * spread)))).astype(np.float32)
    if float(shift @ mean) <= 0:
        return _Cast(0.0, 0.0, float(paler))
    if float(mean @ mean) < float(shift @ shift):
        shift = mean
    return _Cast(float(shift[0]), float(shift[1]), float(paler))
