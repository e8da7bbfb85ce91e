"""How far the structure of a restored picture is found in the picture it was made from.

Both are brought to the input's own resolution (`_blur_match.py`) and compared by their slopes, window by window: which
share of the result's slopes has the input too, in the same place, direction and sign? A faded input has them weaker,
which is allowed for. Scratches, cracks and stamps are structure of the input alone: pixels where its slope is far
beyond anything that the result has nearby are left out, as are windows with many such pixels. So a result may leave out
what it takes for damage, but what it shows must have been there.

Where there is a clean picture nothing needs to be blurred: what the result shows must be in the one or in the other.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np

from convergebench.failures._blur_match import slopes, softened
from convergebench.failures._restored_pair import COARSE, RestoredPair, luma
from convergebench.images.frame import Plane

DAMAGED = 1.5
"""Slope of the input over the steepest of the result nearby (noise added) from which on it is damage."""
NEARBY, SPREAD = 7, 5
"""Sides, in pixels, of the neighbourhood that is searched, and of that by which damage is widened."""
FADED = 0.15
"""Least contrast of the input relative to the result's that can still be allowed for."""
AT_MOST = 3.0
"""Share of a pixel's slope beyond which more support does not count: one scratch must not outvote a window."""
UNSEEN = 0.25
"""Slope (levels per pixel) that is too weak to be missed."""
JUDGED = 0.5
"""Share of the result's slopes in a window that must lie outside damage."""
INTACT = 0.8
"""Share of a window's pixels that must be outside damage: among the letters of a stamp nothing can be told."""
FRAME = 0.045
"""Share of the longer side, along each border, that is not judged without a clean picture: old photographs are torn."""


class Support(NamedTuple):
    """Per pixel of the `COARSE` planes, over a window around it."""

    missing: Plane
    """Share of the result's structure that the input lacks: 0 none, 1 all, up to 2 where it has the opposite."""
    strength: Plane
    """Slope of the result at the input's resolution, in levels per pixel."""


def unsupported(pictures: RestoredPair, *, detail: float, window: float) -> Support:
    """What of the result's structure neither the input nor the clean picture has.

    `detail` is the least blur that both get, `window` the deviation of the windows, in pixels of `COARSE` planes.
    """
    result, given = luma(pictures.result, COARSE), luma(pictures.given, COARSE)
    if pictures.clean is not None:
        found = _support(result, given, detail, window)
        clean = _support(result, luma(pictures.clean, COARSE), detail, window)
        return Support(np.minimum(found.missing, clean.missing), found.strength)
    blur = pictures.blur
    found = _support(blur.of(result), given, max(detail, blur.along / 2), window)
    return Support(_framed(found.missing, round(FRAME * max(given.shape))), found.strength)


def _support(result: Plane, given: Plane, detail: float, window: float) -> Support:
    right, down = slopes(softened(result, detail))
    other_right, other_down = slopes(softened(given, detail))
    own, other = right**2 + down**2, other_right**2 + other_down**2
    undamaged = _undamaged(own, other)
    area = softened(undamaged, window) + np.float32(1e-3)
    judged = softened(undamaged * own, window)
    strength = np.sqrt(judged / area)
    gain = np.clip(np.sqrt(softened(undamaged * other, window) / area) / (strength + np.float32(1e-6)), FADED, 1)
    bound = AT_MOST * own * gain
    shared = softened(undamaged * np.clip(right * other_right + down * other_down, -bound, bound), window)
    found = (shared + UNSEEN**2) / (gain * judged + UNSEEN**2)
    enough = (judged >= JUDGED * softened(own, window)) & (area >= INTACT)
    return Support(np.asarray(np.clip(1 - found, 0, 2) * enough, np.float32), np.asarray(strength, np.float32))


def _undamaged(own: Plane, other: Plane) -> Plane:
    """1 where the input's slope is of the result's kind, 0 at and around damage."""
    steepest = np.sqrt(cv2.dilate(own, np.ones((NEARBY, NEARBY), np.uint8)))
    slope = np.sqrt(other)
    damage = (slope > DAMAGED * (steepest + np.median(slope))).astype(np.uint8)
    return np.asarray(1 - cv2.dilate(damage, np.ones((SPREAD, SPREAD), np.uint8)), np.float32)


def _framed(plane: Plane, margin: int) -> Plane:
    inner = np.zeros_like(plane)
    inner[margin:-margin, margin:-margin] = plane[margin:-margin, margin:-margin]
    return inner
