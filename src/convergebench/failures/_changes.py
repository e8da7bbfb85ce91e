"""Which things a step added, removed or moved: patches that changed more than the picture as a whole did.

The picture before is registered to the picture after (crops and zooms undone where they can be estimated), and both are
averaged to a small grid, which removes noise and compression but not objects. A change of the whole picture (tint, loss
of contrast) is fitted from all cells and subtracted; so is what a neighbouring cell explains (blur, a small shift).
Patches of cells whose remaining change is far outside its usual spread are the result.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Unmeasurable
from convergebench.failures.base import Box
from convergebench.images.align import CONFIDENT
from convergebench.images.frame import Frame, Plane
from convergebench.images.pair_cache import per_pair
from convergebench.images.registration import Registration, register

GRID = 96
"""Cells along the longer side."""
SPREADS = 6.0
"""Robust standard deviations above the median at which a cell counts as changed."""
LEAST = 8.0
"""ΔE under which no cell counts as changed, however quiet the rest is. A real autoencoder (TAESD at 320 pixels) redraws
faces and fine patterns by up to 7 without adding anything; real additions begin at 45, a berry among books at 8."""
INCONCLUSIVE = 20.0
"""Threshold (ΔE) above which so much changed everywhere that a new thing may not stand out."""
COMPACT = 3
"""Side, in cells, of the smallest square a patch must cover; a line is an edge that moved, not a thing."""

Mask = NDArray[np.bool_]


class Patch(NamedTuple):
    """One connected changed area, on the grid of the picture after."""

    mask: Mask
    change: float
    """Mean ΔE beyond the common change."""
    colour: tuple[float, float, float]
    """Mean L*, a*, b* in the picture after."""

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(np.count_nonzero(self.mask))

    @property
    def box(self) -> Box:
        """The rectangle around it."""
        return box_of(self.mask)


class Changes(NamedTuple):
    """The differences of a picture from the one before."""

    strength: float
    """The strongest compact change over the threshold: 1 just counts as a change, 0 is none at all."""
    patches: tuple[Patch, ...]
    """The largest first; empty if `strength` is under 1."""
    level: float
    """The threshold in ΔE, given how much everything changed."""
    grid: tuple[int, int]
    """Rows and columns."""

    @property
    def inconclusive(self) -> bool:
        """No patch was found, but so much changed that one might be hidden."""
        return not self.patches and self.level > INCONCLUSIVE


def changes(after: Frame, before: Frame) -> Changes:
    """The patches of `after` that changed more than the whole picture did; cached for the pair."""
    return per_pair(after, before, "changes", lambda: _find(after, before))


def box_of(mask: Mask) -> Box:
    """The rectangle around a mask's cells, as shares of the picture."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return Box(0.0, 0.0, 0.0, 0.0)
    high, wide = mask.shape
    return Box(
        float(columns[0]) / wide,
        float(rows[0]) / high,
        float(columns[-1] + 1 - columns[0]) / wide,
        float(rows[-1] + 1 - rows[0]) / high,
    )


def _find(after: Frame, before: Frame) -> Changes:
    now, known = _cells(after), _registered_cells(before, after)
    seen = known.seen
    lab, toned = _lab(now), _lab(_toned(known.cells, now, seen))
    beyond = np.maximum(_outside_range(lab, toned), _outside_range(_blurred(toned, 0.7), lab))
    beyond[~seen] = 0
    soft = _blurred(beyond, 1.0)
    inner = soft[seen]
    median = float(np.median(inner)) if inner.size else 0.0
    spread = 1.4826 * float(np.median(np.abs(inner - median))) if inner.size else 0.0
    level = max(LEAST, median + SPREADS * spread)
    compact = cv2.erode(soft, np.ones((COMPACT, COMPACT), np.uint8))
    strength = float(compact.max()) / level
    change = np.sqrt(np.square(lab - toned).sum(axis=-1))
    count, labels = cv2.connectedComponents((soft > level).astype(np.uint8), connectivity=8)
    patches = []
    for number in range(1, count):
        mask: Mask = labels == number
        if bool((compact[mask] > level).any()):
            colour = lab[mask].mean(axis=0)
            patches.append(
                Patch(mask, float(change[mask].mean()), (float(colour[0]), float(colour[1]), float(colour[2])))
            )
    patches.sort(key=lambda patch: -patch.cells)
    return Changes(strength, tuple(patches), level, (now.shape[0], now.shape[1]))


def _cells(frame: Frame) -> Plane:
    return frame.derived("change-cells", _make_cells)


def _make_cells(frame: Frame) -> Plane:
    factor = min(1.0, GRID / max(frame.size))
    size = max(1, round(frame.width * factor)), max(1, round(frame.height * factor))
    return cv2.resize(frame.pixels, size, interpolation=cv2.INTER_AREA).astype(np.float32) / np.float32(255)


class _RegisteredCells(NamedTuple):
    cells: Plane
    seen: Mask
    """Cells of the picture after that the picture before shows too."""


def _registered_cells(before: Frame, after: Frame) -> _RegisteredCells:
    """The picture before, resampled to the grid of the picture after."""
    rows, columns = _cells(after).shape[:2]
    found = _registered(after, before)
    if found is None or (before.size == after.size and _unmoved(found, before)):
        same = cv2.resize(before.pixels, (columns, rows), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
        return _RegisteredCells(np.asarray(same, np.float32), np.ones((rows, columns), np.bool_))
    # average to the grid's scale first, so that noise is gone before interpolation
    across, down = after.width / columns / found.scale_x, after.height / rows / found.scale_y
    size = max(1, round(before.width / across)), max(1, round(before.height / down))
    small = cv2.resize(before.pixels, size, interpolation=cv2.INTER_AREA).astype(np.float32) / np.float32(255)
    shift_x, shift_y = found.shift_x / before.width * size[0], found.shift_y / before.height * size[1]
    matrix = np.array([[1, 0, columns / 2 - size[0] / 2 + shift_x], [0, 1, rows / 2 - size[1] / 2 + shift_y]])
    shape = (columns, rows)
    warped = cv2.warpAffine(small, matrix, shape, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    covered = cv2.warpAffine(np.ones(small.shape[:2], np.float32), matrix, shape, flags=cv2.INTER_LINEAR)
    return _RegisteredCells(np.asarray(warped, np.float32), np.asarray(covered > 0.99, np.bool_))


def _registered(after: Frame, before: Frame) -> Registration | None:
    try:
        found = register(after, before)
    except Unmeasurable:
        return None
    return found if found.confidence >= CONFIDENT else None


def _unmoved(found: Registration, before: Frame) -> bool:
    """Whether nothing moved by a third of a cell or more."""
    cell = max(before.size) / GRID
    across = abs(found.shift_x) + abs(found.scale_x - 1) * before.width / 2
    down = abs(found.shift_y) + abs(found.scale_y - 1) * before.height / 2
    return max(across, down) < cell / 3


def _lab(cells: Plane) -> Plane:
    return np.asarray(cv2.cvtColor(np.clip(cells, 0, 1), cv2.COLOR_RGB2LAB), np.float32)


def _blurred(plane: Plane, sigma: float) -> Plane:
    return np.asarray(cv2.GaussianBlur(plane, (0, 0), sigma), np.float32)


def _outside_range(plane: Plane, of: Plane) -> Plane:
    """How far each cell is outside the range of its neighbourhood in the other picture."""
    around = np.ones((3, 3), np.uint8)
    above, below = plane - cv2.dilate(of, around), cv2.erode(of, around) - plane
    excess = np.maximum(np.maximum(above, below), 0)
    return np.asarray(np.sqrt(np.square(excess).sum(axis=-1)), np.float32)


def _toned(before: Plane, after: Plane, seen: Mask) -> Plane:
    """`before` with the tint, contrast and saturation of `after`, fitted robustly against cells of new things."""
    columns = np.concatenate([before, np.square(before), np.ones((*before.shape[:2], 1), np.float32)], axis=-1)
    some, rest = columns[seen].astype(np.float64), (after - before)[seen].astype(np.float64)
    if len(some) < 4 * columns.shape[-1]:
        return before
    toned = before.copy()
    for channel in range(3):
        target = rest[:, channel]
        # starts as a constant shift and bends only as far as most cells agree
        fitted = np.full(len(target), np.median(target))
        solution = np.zeros(columns.shape[-1])
        for _ in range(5):
            misfit = target - fitted
            spread = max(0.004, 1.4826 * float(np.median(np.abs(misfit))))
            weighted = some / (1 + np.square(misfit / spread))[:, None]
            gram = weighted.T @ some + 1e-4 * len(some) * np.diag([1.0] * 6 + [0.0])
            solution = np.linalg.solve(gram + 1e-9 * np.eye(len(gram)), weighted.T @ target)
            fitted = some @ solution
        toned[..., channel] += (columns.reshape(-1, columns.shape[-1]) @ solution).reshape(before.shape[:2])
    return np.asarray(toned, np.float32)
