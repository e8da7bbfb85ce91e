"""The part of an image that an edit changed beyond what it did everywhere else.

Both images are averaged to a small grid, which removes noise and compression but not objects. A change of tone of the
whole image is fitted and subtracted, and so is what a neighbouring cell explains (blur, a small shift). Cells whose
remaining change is far outside its usual spread, joined to patches, are the region.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.align import fit
from convergebench.images.frame import Frame, Plane
from convergebench.images.pair_cache import per_pair

GRID = 96
"""Cells along the longer side."""
SPREADS = 6.0
"""Robust standard deviations above the median at which a cell counts as changed."""
LEAST = 5.0
"""ΔE under which no cell counts as changed, however quiet the rest is."""
SMALLEST = 0.001
"""Share of the image under which a patch is not an object."""
KNOTS = 9
"""Knots of the tone curve that describes a common change."""
SECONDARY = 0.2
"""Other patches count too if they hold this share of the largest one's change."""

Mask = NDArray[np.bool_]


class Region(NamedTuple):
    """Cells that changed, and the mean change (ΔE after the common tint) inside and outside them."""

    mask: Mask
    inside: float
    outside: float


def changed_region(after: Frame, before: Frame) -> Region | None:
    """Where `after` changed more than the whole image did, on a grid of cells; None if nowhere. Cached for the pair."""
    return per_pair(after, before, "region", lambda: _find(_cells(fit(after, before.size)), _cells(before)))


def _cells(frame: Frame) -> Plane:
    return frame.derived("cells", _make_cells)


def _make_cells(frame: Frame) -> Plane:
    factor = min(1.0, GRID / max(frame.size))
    size = max(1, round(frame.width * factor)), max(1, round(frame.height * factor))
    return cv2.resize(frame.pixels, size, interpolation=cv2.INTER_AREA).astype(np.float32) / np.float32(255)


def _lab(cells: Plane) -> Plane:
    converted: Plane = cv2.cvtColor(np.clip(cells, 0, 1), cv2.COLOR_RGB2LAB)  # type: ignore[assignment]
    return converted


def _find(after: Plane, before: Plane) -> Region | None:
    after, toned = _lab(after), _lab(_toned(before, after))
    beyond = np.maximum(_outside_range(after, toned), _outside_range(_blurred(toned, 0.7), after))
    soft = _blurred(beyond, 1.0)
    median = float(np.median(soft))
    spread = 1.4826 * float(np.median(np.abs(soft - median)))
    mask = _patches(soft, soft > max(LEAST, median + SPREADS * spread))
    if mask is None:
        return None
    change = np.sqrt(np.square(after - toned).sum(axis=-1))
    outside = change[~mask]
    return Region(mask, float(change[mask].mean()), float(outside.mean()) if outside.size else 0.0)


def _blurred(plane: Plane, sigma: float) -> Plane:
    blurred: Plane = cv2.GaussianBlur(plane, (0, 0), sigma)  # type: ignore[assignment]
    return blurred


def _outside_range(plane: Plane, of: Plane) -> Plane:
    """How far each cell is outside the range of its neighbourhood in the other image; blur and small shifts are not."""
    around = np.ones((3, 3), dtype=np.uint8)
    above = plane - cv2.dilate(of, around)
    below = cv2.erode(of, around) - plane
    excess = np.maximum(np.maximum(above, below), 0)
    distance: Plane = np.sqrt(np.square(excess).sum(axis=-1))
    return distance


def _toned(before: Plane, after: Plane) -> Plane:
    """`before` with the tint, contrast and saturation of `after`: a curve per channel and a mix of channels."""
    toned = np.empty_like(before)
    flat = before.reshape(-1, 3)
    for channel in range(3):
        features = _features(flat, channel)
        rest = (after - before)[..., channel].ravel()
        # every fourth cell is enough to fit eleven coefficients
        some, some_rest = features[::4], rest[::4]
        coefficients = np.zeros(features.shape[1], dtype=np.float32)
        coefficients[:KNOTS] = np.median(some_rest)
        for _ in range(4):
            misfit = some_rest - some @ coefficients
            spread = max(0.004, 1.4826 * float(np.median(np.abs(misfit))))
            weighted = some / (1 + np.square(misfit / spread))[:, None]
            # regularise the curve where few cells support it
            gram = weighted.T @ some + _stiffness(len(some))
            coefficients = np.linalg.solve(gram, weighted.T @ some_rest)
        toned[..., channel] = before[..., channel] + (features @ coefficients).reshape(before.shape[:2])
    return toned


def _features(cells: Plane, channel: int) -> Plane:
    """Hat functions over one channel's range, and how far the other two channels are from it."""
    own = cells[:, channel]
    hats = [np.maximum(0, 1 - np.abs(own * (KNOTS - 1) - knot)) for knot in range(KNOTS)]
    others = [cells[:, other] - own for other in range(3) if other != channel]
    return np.stack([*hats, *others], axis=1).astype(np.float32)


def _stiffness(count: int) -> Plane:
    bend = np.zeros((KNOTS - 2, KNOTS + 2), dtype=np.float32)
    for row in range(KNOTS - 2):
        bend[row, row : row + 3] = 1, -2, 1
    ridge = np.diag([1e-5] * KNOTS + [1e-3] * 2)
    return ((bend.T @ bend * 1e-3 + ridge) * count).astype(np.float32)


def _patches(change: Plane, candidates: Mask) -> Mask | None:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(candidates.astype(np.uint8), connectivity=8)
    least = max(3.0, SMALLEST * change.size)
    large = [index for index in range(1, count) if stats[index, cv2.CC_STAT_AREA] >= least]
    if not large:
        return None
    mass = {index: float(change[labels == index].sum()) for index in large}
    most = max(mass.values())
    kept = [index for index in large if mass[index] >= SECONDARY * most]
    mask: Mask = np.isin(labels, kept)
    return mask
