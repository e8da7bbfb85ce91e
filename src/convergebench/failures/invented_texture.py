"""Invented texture: a restoration fills calm parts of the degraded picture with texture of its own making.

A proposal of over-generation, for a person to confirm. Where: squares of 48 pixels in which the input is calm (less
than 6 levels at scales of 2.5 to 9 pixels). What: the result's amplitude between 0.7 and 2.5 pixels, less the part that
follows the input's own: noise that was left, or sharpened, is explained by the input. A few outlines in a square count
for little. The threshold is 2.1 levels, all over a spot of 25 pixels.

Texture may have been lost in the input rather than made up in the result. So without a clean picture a square counts
only if the input would show that texture: the result is blurred to the input's resolution (and half as much again), and
what is left of its texture must be so strong that its absence is certain: its share in the input, plus two standard
errors, is below 0.6. With a clean picture, what follows that one is subtracted too, and a square counts only if the
result has one and a half times the clean picture's amplitude.

What it cannot see: texture under the input's resolution without a clean picture; texture in lively parts of the
picture, or not much stronger than the clean picture's. Noise that the result adds counts as texture.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.failures._blur_match import softened
from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures._restored_pair import COARSE, FINE, RestoredPair, luma, restored_pair
from convergebench.failures.base import Box, ChainView, Examination, detector, does_not_apply
from convergebench.images.frame import Plane

LEVELS = 2.1
"""Amplitude (standard deviation) that counts."""
SIDE, SPOT = 48, 25
CALM = 6.0
"""Most levels of the input's own structure in a square."""
BAND, STRUCTURE = (0.7, 2.5), (2.5, 9.0)
"""Blurs between which texture, and structure, lie."""
SOFTER = 1.5
"""How many times the matched blur the result gets before it is asked whether the input would show its texture."""
PRESENT = 0.6
"""Share of the texture that the input may at most have, two standard errors added."""
LIVELIER = 1.5
"""Times the clean picture's amplitude that are no failure: texture may be drawn anew, but not much more of it."""
MOSTLY = 0.5
"""Share of the result's amplitude that must be its own: deconvolution bends the noise that it enlarges."""
UNSEEN = np.float32(0.25)
"""Power that is too weak to explain anything: half a level."""
ROOT = np.float32(0.822)
"""Mean square root of the magnitude of Gaussian values of deviation 1."""
NOTED = 0.5


class _Texture(NamedTuple):
    levels: float
    share: float
    region: Box | None


@detector(
    "invented-texture",
    level="noise",
    title="Invented texture (proposed)",
    rule=(
        "in calm squares of the degraded input the result has fine texture of more than 2.1 levels that does not "
        "follow the input, and that the input would show (or that is 1.5 times the clean picture's); a proposal "
        "for a person to confirm"
    ),
    paper="over-generation",
)
def invented_texture(chain: ChainView) -> Examination:
    """Texture in calm parts that the degraded picture does not explain; a proposal of over-generation."""
    if not chain.restores:
        return does_not_apply("the chain restores nothing")

    def measure(index: int) -> StepScore | None:
        pictures = restored_pair(chain, index)
        if pictures is None or min(luma(pictures.given, FINE).shape) < SIDE + SPOT:
            return None
        found = _texture(pictures)
        return StepScore(
            found.levels / LEVELS,
            {"invented-texture": round(found.levels, 3), "invented-texture-share": round(found.share, 4)},
            f"proposed: texture of {found.levels:.1f} levels, in {found.share:.1%} of the picture, that the input does "
            "not have",
            found.region,
        )

    return find_onset(chain, measure)


def _texture(pictures: RestoredPair) -> _Texture:
    result, given = luma(pictures.result, FINE), luma(pictures.given, FINE)
    fine, known = _band(result, BAND), _band(given, BAND)
    calm = _mean(np.square(_band(given, STRUCTURE))) < CALM**2
    if pictures.clean is None:
        own = _amplitude(_less(fine, known))
        counts = calm & _would_show(pictures, result, known)
    else:
        right = _band(luma(pictures.clean, FINE), BAND)
        own = _amplitude(_less_both(fine, known, right))
        counts = calm & (_amplitude(fine) > LIVELIER * _amplitude(right))
    counted = own * (counts & (own > MOSTLY * _amplitude(fine)))
    inner = np.zeros_like(counted)
    half = SIDE // 2
    inner[half:-half, half:-half] = counted[half:-half, half:-half]
    everywhere = cv2.erode(inner, np.ones((SPOT, SPOT), np.uint8), borderType=cv2.BORDER_REPLICATE)
    highest = float(everywhere.max())
    if highest <= 0:
        return _Texture(0.0, 0.0, None)
    noted = inner >= NOTED * highest
    _, patches = cv2.connectedComponents(noted.astype(np.uint8), connectivity=8)
    patch = patches == patches.flat[int(everywhere.argmax())]
    return _Texture(highest, float(noted.mean()), pictures.box(patch))


def _amplitude(plane: Plane) -> Plane:
    """The standard deviation in each square, if its values are Gaussian; a few outlines in it count for little."""
    return np.asarray(np.square(_mean(np.sqrt(np.abs(plane))) / ROOT), np.float32)


def _less(fine: Plane, known: Plane) -> Plane:
    """The result's texture without what follows the input's."""
    follows = np.maximum(_mean(fine * known), 0) / (_mean(known * known) + UNSEEN)
    return np.asarray(fine - follows * known, np.float32)


def _less_both(fine: Plane, known: Plane, right: Plane) -> Plane:
    """The result's texture without what follows the input's, the clean picture's or both."""
    one, other, both = _mean(fine * known), _mean(fine * right), _mean(known * right)
    power_known, power_right = _mean(known * known) + UNSEEN, _mean(right * right) + UNSEEN
    whole = power_known * power_right - np.square(both)
    of_known, of_right = (one * power_right - other * both) / whole, (other * power_known - one * both) / whole
    return np.asarray(fine - of_known * known - of_right * right, np.float32)


def _would_show(pictures: RestoredPair, result: Plane, known: Plane) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Where the input would show the result's texture, and does not."""
    finer = max(result.shape) / max(luma(pictures.result, COARSE).shape)
    trace = _band(softened(pictures.blur.times(SOFTER * finer).of(result), 0.6), BAND)
    power = _mean(trace * trace) + np.float32(1e-3)
    share = _mean(trace * known) / power
    independent = SIDE**2 / (4 * np.pi)  # values in a square; neighbours in the band are alike
    error = np.sqrt(_mean(known * known) / power / np.float32(independent))
    return np.asarray(share + 2 * error < PRESENT, np.bool_)


def _band(plane: Plane, blurs: tuple[float, float]) -> Plane:
    return softened(plane, blurs[0]) - softened(plane, blurs[1])


def _mean(plane: Plane) -> Plane:
    return np.asarray(cv2.boxFilter(plane, cv2.CV_32F, (SIDE, SIDE)), np.float32)
