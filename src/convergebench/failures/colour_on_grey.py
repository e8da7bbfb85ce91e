"""Colour on grey: the degraded picture is black and white, or toned, and the restoration has colours.

A proposal of infidelity, for a person to confirm: what the colours were is a guess. Both pictures are averaged to 64
cells along the longer side. A tone (sepia, a yellowed print) gives every brightness one colour, so a smooth curve of
colour over brightness is fitted and subtracted; what is left is colour in the proper sense. The input is grey if at
most 5 % of it has a chroma above 5 left. The failure is there if 5 % more of the result than of the input has a chroma
above 8 left.

Two things are allowed for. Faded colours that are brought back are in the input already, weakly: where the colours of
both pictures correlate by 0.5 or more nothing is found. And where there is a clean picture, a cell does not count whose
colour is nearer to the clean one's than half its chroma.

What it cannot see: a tint of one hue over all of the picture, which is a tone; colour in less than 5 % of the picture.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures._restored_pair import RestoredPair, restored_pair
from convergebench.failures.base import Box, ChainView, Examination, detector, does_not_apply
from convergebench.images.frame import Frame, Plane

GRID = 64
GREY, COLOURED = 5.0, 8.0
"""Chroma (CIELAB) beyond the tone that a grey picture may have, and that a coloured cell has."""
STAINED = 0.05
"""Share of a grey input that may have more: stains and coloured noise."""
SHARE = 0.05
"""Share of the picture, beyond the input's, that counts."""
FADED = 0.5
"""Correlation of colours from which on they were in the input."""
RIGHT = 0.5
"""Distance from the clean picture's colour, over the chroma, up to which a colour is right."""
EVERYWHERE = 0.5
"""Share of coloured cells from which on no region is marked."""

Colours = NDArray[np.float32]
"""Rows × columns × (a*, b*)."""


class _Cells(NamedTuple):
    lightness: Plane
    colours: Colours
    beyond_tone: Colours

    @property
    def chroma(self) -> Plane:
        return np.hypot(self.beyond_tone[..., 0], self.beyond_tone[..., 1])


class _Colourised(NamedTuple):
    share: float
    chroma: float
    region: Box | None


@detector(
    "colour-on-grey",
    level="image",
    title="Colour on a grey picture (proposed)",
    rule=(
        "the degraded input is grey or of one tone, and 5 % or more of the result has a chroma above 8 beyond its tone "
        "that is not the clean picture's; a proposal for a person to confirm"
    ),
    paper="infidelity: colour",
)
def colour_on_grey(chain: ChainView) -> Examination:
    """Colours a picture that was black and white; a proposal of infidelity."""
    if not chain.restores:
        return does_not_apply("the chain restores nothing")
    if not is_grey(chain.frame(0)):
        return does_not_apply("the degraded picture has colours")

    def measure(index: int) -> StepScore | None:
        pictures = restored_pair(chain, index)
        if pictures is None:
            return None
        found = _colourised(pictures)
        return StepScore(
            found.share / SHARE,
            {"coloured-share": round(found.share, 4), "colour": round(found.chroma, 2)},
            f"proposed: {found.share:.0%} of the picture has colours (mean chroma {found.chroma:.0f} there), and the "
            "input is grey",
            found.region,
        )

    return find_onset(chain, measure)


def is_grey(frame: Frame) -> bool:
    """Whether a picture has no colours beyond one tone."""
    return float((_cells(frame).chroma > GREY).mean()) <= STAINED


def _colourised(pictures: RestoredPair) -> _Colourised:
    result, given = _cells(pictures.result), _cells(pictures.given)
    chroma = result.chroma
    coloured = chroma > COLOURED
    if pictures.clean is not None:
        clean = _cells(pictures.clean)
        away = result.colours - clean.colours
        coloured &= np.hypot(away[..., 0], away[..., 1]) > RIGHT * chroma
    share = float(coloured.mean()) - float((given.chroma > COLOURED).mean())
    if share <= 0 or _correlation(result.beyond_tone, given.beyond_tone) >= FADED:
        return _Colourised(0.0, 0.0, None)
    region = pictures.box(coloured) if coloured.mean() < EVERYWHERE else None
    return _Colourised(share, float(chroma[coloured].mean()), region)


def _cells(frame: Frame) -> _Cells:
    return frame.derived("colour-cells", _make_cells)


def _make_cells(frame: Frame) -> _Cells:
    factor = min(1.0, GRID / max(frame.size))
    size = max(1, round(frame.width * factor)), max(1, round(frame.height * factor))
    cells = cv2.resize(frame.pixels.astype(np.float32) / np.float32(255), size, interpolation=cv2.INTER_AREA)
    lab = np.asarray(cv2.cvtColor(cells, cv2.COLOR_RGB2LAB), np.float32)
    # a coloured point spoils its cell, not the cells around it
    smoothed = [cv2.medianBlur(np.ascontiguousarray(lab[..., plane]), 3) for plane in (1, 2)]
    colours = np.asarray(np.dstack(smoothed), np.float32)
    lightness = np.ascontiguousarray(lab[..., 0])
    return _Cells(lightness, colours, colours - _tone(lightness, colours))


def _tone(lightness: Plane, colours: Colours) -> Colours:
    """The colour of a picture of one tone at each lightness: a parabola, fitted with little weight for outliers."""
    level = lightness.ravel() / np.float32(100)
    powers = np.stack([np.ones_like(level), level, level**2], axis=1)
    flat = colours.reshape(-1, 2)
    fitted = np.broadcast_to(np.median(flat, axis=0), flat.shape)
    for _ in range(6):
        away = np.sqrt(np.square(flat - fitted).sum(axis=1))
        weights = 1 / (1 + np.square(away / max(1.0, float(np.median(away)))))
        weighted = powers * weights[:, None]
        steady = weighted.T @ powers + 1e-3 * np.eye(3, dtype=np.float32)
        fitted = powers @ np.linalg.solve(steady, weighted.T @ flat)
    return np.asarray(fitted.reshape(colours.shape), np.float32)


def _correlation(one: Colours, other: Colours) -> float:
    product = float(np.sqrt(np.square(one).sum() * np.square(other).sum()))
    return float((one * other).sum()) / product if product > 1e-6 else 0.0
