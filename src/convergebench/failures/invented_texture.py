"""Invented texture: a restoration fills calm parts of the degraded picture with texture of its own making.

A proposal of over-generation, for a person to confirm. Where: squares of 48 pixels in which the input is calm (less
than 6 levels at scales of 2.5 to 9 pixels). What: the result's amplitude between 0.7 and 2.5 pixels, less the part that
follows the input's own: noise that was left, or sharpened, is explained by the input. The threshold is 2.5 levels, all
over a spot of 25 pixels.

Texture may have been lost in the input rather than made up in the result. So without a clean picture a square counts
only if the input would show that texture: the result is blurred to the input's resolution (and a quarter more), and
what is left of its texture must be strong enough that its absence is certain: its share in the input, plus two standard
errors, is below 0.6. With a clean picture the texture counts that exceeds one and a half times the clean one's
amplitude.

What it cannot see: texture under the input's resolution without a clean picture, in lively parts of the picture, or as
strong as the clean picture's. Noise that the result adds counts as texture.
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

LEVELS = 2.5
"""Amplitude (standard deviation) that counts."""
SIDE, SPOT = 48, 25
CALM = 6.0
"""Most levels of the input's own structure in a square."""
BAND, STRUCTURE = (0.7, 2.5), (2.5, 9.0)
"""Blurs between which texture, and structure, lie."""
SOFTER = 1.25
"""How many times the matched blur the result gets before it is asked whether the input would show its texture."""
PRESENT = 0.6
"""Share of the texture that the input may at most have, two standard errors added."""
LIVELIER = 1.5
"""Times the clean picture's amplitude that are no failure."""
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
        "in calm squares of the degraded input the result has fine texture of more than 2.5 levels that does not "
        "follow the input, and that the input would show (or that exceeds 1.5 times the clean picture's); a proposal "
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
    power_known = _mean(known * known)
    follows = np.square(np.maximum(_mean(fine * known), 0)) / (power_known + np.float32(0.25))
    own = np.maximum(_mean(fine * fine) - follows, 0)
    calm = _mean(np.square(_band(given, STRUCTURE))) < CALM**2
    if pictures.clean is None:
        counted = np.sqrt(own) * (calm & _would_show(pictures, result, known, power_known))
    else:
        clean = _mean(np.square(_band(luma(pictures.clean, FINE), BAND)))
        counted = np.sqrt(np.maximum(own - LIVELIER**2 * clean, 0)) * calm
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


def _would_show(
    pictures: RestoredPair, result: Plane, known: Plane, power_known: Plane
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Where the input would show the result's texture, and does not."""
    finer = max(result.shape) / max(luma(pictures.result, COARSE).shape)
    trace = _band(softened(pictures.blur.times(SOFTER * finer).of(result), 0.6), BAND)
    power = _mean(trace * trace) + np.float32(1e-3)
    share = _mean(trace * known) / power
    independent = SIDE**2 / (4 * np.pi)  # values in a square; neighbours in the band are alike
    error = np.sqrt(power_known / power / np.float32(independent))
    return np.asarray(share + 2 * error < PRESENT, np.bool_)


def _band(plane: Plane, blurs: tuple[float, float]) -> Plane:
    return softened(plane, blurs[0]) - softened(plane, blurs[1])


def _mean(plane: Plane) -> Plane:
    return np.asarray(cv2.boxFilter(plane, cv2.CV_32F, (SIDE, SIDE)), np.float32)
