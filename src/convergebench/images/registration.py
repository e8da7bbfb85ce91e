"""Registration: the scale and shift of a reference's content in a subject, along each axis.

Phase correlation finds the shift for a few likely scales, template matching that of a crop. Gauss–Newton then maximises
the normalised correlation (ECC) with little weight for outliers, so that an added object has no influence. All of it
works on small grey versions, coarse first.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images._small import COARSE, FINE, ScaleShift, Small, inside, small, to_reference, warp
from convergebench.images.frame import Frame, Plane
from convergebench.images.pair_cache import per_pair

IN_PLACE, BLOCK = 0.80, 32
"""Median correlation of blocks at which the last refinement alone is enough, and their side."""
SURE, LIKELY = 0.90, 0.70
"""Fitness at which no other scale is tried, and at which only neighbouring ones are."""
ZOOM, ZOOMS = 1.06, 4
"""Step between tried scales, and how many steps to each side."""


class Registration(NamedTuple):
    """Scale and shift of the reference's content in the subject.

    `scale_x`, `scale_y`: subject pixels per reference pixel. `shift_x`, `shift_y`: how far the content has moved right
    and down at the centre, in reference pixels. `crop`: share of the reference's area that is out of view.
    `confidence`: correlation of the two small versions where they overlap, at most 1.
    """

    scale_x: float
    scale_y: float
    shift_x: float
    shift_y: float
    crop: float
    confidence: float

    @property
    def scale(self) -> float:
        """Geometric mean of the two scales."""
        return sqrt(self.scale_x * self.scale_y)


class _ScoredView(NamedTuple):
    view: ScaleShift
    correlation: float
    share: float

    @property
    def fitness(self) -> float:
        """Correlation, reduced where the overlap is only part of the subject: a sliver can always be made to agree."""
        return self.correlation * sqrt(self.share)


def register(subject: Frame, reference: Frame) -> Registration:
    """Scale and shift of the subject against the reference; `Unmeasurable` if one of them has no features."""
    return per_pair(subject, reference, "registration", lambda: _register(subject, reference))


def _register(subject: Frame, reference: Frame) -> Registration:
    if subject.size == reference.size and cv2.norm(subject.pixels, reference.pixels, cv2.NORM_INF) == 0:
        return Registration(1.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    fine = small(subject, FINE), small(reference, FINE)
    best = _scored(*fine, ScaleShift(reference.width / subject.width, reference.height / subject.height))
    if best.fitness < SURE and not _in_place(*fine):
        best = _scored(*fine, _coarse_view(small(subject, COARSE), small(reference, COARSE)).view)
    best = _refine(*fine, best, steps=5)
    view = best.view
    return Registration(
        1 / view.step_x, 1 / view.step_y, -view.x, -view.y, _crop(subject, reference, view), best.correlation
    )


def _in_place(subject: Small, reference: Small) -> bool:
    """Whether most of the picture is where it was: an added object spoils some blocks, a zoom or a crop most."""
    if subject.grey.shape != reference.grey.shape or min(subject.grey.shape) < 3 * BLOCK:
        return False
    x, y = (_blocks(each.grey) for each in (subject, reference))
    agree = np.einsum("ij,ij->i", x, y) / np.sqrt(np.einsum("ij,ij->i", x, x) * np.einsum("ij,ij->i", y, y) + 1e-6)
    return float(np.median(agree)) >= IN_PLACE


def _blocks(grey: Plane) -> Plane:
    """One row per block, minus its mean."""
    rows, columns = grey.shape[0] // BLOCK, grey.shape[1] // BLOCK
    tiles = grey[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK)
    flat = tiles.swapaxes(1, 2).reshape(rows * columns, BLOCK * BLOCK)
    return np.asarray(flat - flat.mean(axis=1, keepdims=True), np.float32)


def _coarse_view(subject: Small, reference: Small) -> _ScoredView:
    """The best view by the coarse versions."""
    best = _best_scale(subject, reference)
    if best.fitness < SURE:
        best = _refine(subject, reference, best, steps=10, robust=False)
    return _refine(subject, reference, best, steps=8)


def _scored(subject: Small, reference: Small, view: ScaleShift) -> _ScoredView:
    """The view with its correlation over the common area, and the share of the subject that this area is."""
    matrix = to_reference(subject, reference, view)
    area = inside(matrix, subject, reference)
    x, y = subject.grey[area], warp(reference.grey, matrix, subject.grey)[area]
    share = x.size / subject.grey.size
    if share < 0.1:
        return _ScoredView(view, 0.0, share)
    x, y = x - x.mean(), y - y.mean()
    length = float(np.sqrt(np.vdot(x, x) * np.vdot(y, y)))
    return _ScoredView(view, float(np.vdot(x, y)) / max(length, 1e-9), share)


def _best_scale(subject: Small, reference: Small) -> _ScoredView:
    """The best of the likely scales, each with the shift that phase correlation gives it."""
    ratio_x, ratio_y = reference.width / subject.width, reference.height / subject.height
    best = _shifted(subject, reference, ScaleShift(ratio_x, ratio_y))
    if abs(ratio_x / ratio_y - 1) > 1e-3:
        uniform = (_shifted(subject, reference, ScaleShift(ratio, ratio)) for ratio in (ratio_x, ratio_y))
        best = max((best, *uniform), key=_fitness)
    if (subject.width, subject.height) != (reference.width, reference.height):
        best = max((best, _as_crop(subject, reference)), key=_fitness)
    base = best.view
    for direction in (1, -1):
        for power in range(1, ZOOMS + 1):
            if best.fitness >= SURE:
                return best
            zoom = ZOOM ** (direction * power)
            other = _shifted(subject, reference, ScaleShift(base.step_x * zoom, base.step_y * zoom))
            worse = other.fitness < best.fitness
            best = max(best, other, key=_fitness)
            if worse and best.fitness >= LIKELY:
                break
    return best


def _fitness(scored: _ScoredView) -> float:
    return scored.fitness


def _as_crop(subject: Small, reference: Small) -> _ScoredView:
    """The view if one is a crop of the other at scale 1, anywhere in it: phase correlation misses large crops."""
    factor = min(*subject.factors, *reference.factors)
    own, whole = (_resized(each, factor) for each in (subject, reference))
    if all(a <= b for a, b in zip(own.shape, whole.shape, strict=True)):
        x, y = _best_offset(own, whole)
    elif all(a >= b for a, b in zip(own.shape, whole.shape, strict=True)):
        x, y = (-each for each in _best_offset(whole, own))
    else:
        return _shifted(subject, reference, ScaleShift(1.0, 1.0))
    return _scored(subject, reference, ScaleShift(1.0, 1.0, x / factor, y / factor))


def _resized(each: Small, factor: float) -> Plane:
    size = max(8, round(each.width * factor)), max(8, round(each.height * factor))
    return np.asarray(cv2.resize(each.grey, size, interpolation=cv2.INTER_AREA), np.float32)


def _best_offset(piece: Plane, whole: Plane) -> tuple[float, float]:
    """Offset (right, down) of the piece's centre from the whole's centre at the best match."""
    agreement = cv2.matchTemplate(whole, piece, cv2.TM_CCOEFF_NORMED)
    _, _, _, (left, top) = cv2.minMaxLoc(agreement)
    height, width = agreement.shape
    return left - (width - 1) / 2, top - (height - 1) / 2


def _shifted(subject: Small, reference: Small, view: ScaleShift) -> _ScoredView:
    warped = warp(reference.grey, to_reference(subject, reference, view), subject.grey)
    window = cv2.createHanningWindow((warped.shape[1], warped.shape[0]), cv2.CV_32F)
    # OpenCV applies its window in place, hence the copy
    (x, y), _ = cv2.phaseCorrelate(subject.grey.copy(), warped, window)
    sx, sy = subject.factors
    moved = view._replace(x=x / sx * view.step_x, y=y / sy * view.step_y)
    return max((_scored(subject, reference, each) for each in (view, moved)), key=_fitness)


def _refine(subject: Small, reference: Small, start: _ScoredView, *, steps: int, robust: bool = True) -> _ScoredView:
    """The better of a view and the one that Gauss–Newton reaches from it."""
    view = _descend(subject, reference, start.view, steps=steps, robust=robust)
    reached = _scored(subject, reference, view)
    # ignoring outliers may cost a little correlation and still be more accurate
    return start if reached.fitness < start.fitness - 0.02 else reached


def _descend(subject: Small, reference: Small, view: ScaleShift, *, steps: int, robust: bool) -> ScaleShift:
    """Gauss–Newton on log scales and shifts with free brightness and contrast; outliers weigh little if `robust`."""
    rx, ry = reference.factors
    height, width = subject.grey.shape
    for _ in range(steps):
        matrix = to_reference(subject, reference, view)
        area = inside(matrix, subject, reference)
        if subject.grey[area].size < 256:
            return view
        seen = warp(reference.grey, matrix, subject.grey)[area].ravel()
        change = _fit(_columns(subject, reference, matrix, area), seen, robust=robust)
        view = ScaleShift(
            view.step_x * float(np.exp(-change[0])),
            view.step_y * float(np.exp(-change[1])),
            view.x - float(change[2]),
            view.y - float(change[3]),
        )
        moved_x = abs(change[2]) * rx + abs(change[0]) * width / 2
        moved_y = abs(change[3]) * ry + abs(change[1]) * height / 2
        if max(moved_x, moved_y) < 0.02:  # of a small pixel, at the corners
            break
    return view


def _columns(subject: Small, reference: Small, matrix: NDArray[np.float64], area: tuple[slice, slice]) -> Plane:
    """Regressors for the warped reference: the subject, a constant, and the derivatives by log scales and shifts."""
    height, width = subject.grey.shape
    rows, across_rows = area
    template = subject.grey[area]
    across, down = (warp(plane, matrix, subject.grey)[area] for plane in (reference.across, reference.down))
    from_centre_x = np.arange(width, dtype=np.float32)[None, across_rows] + np.float32(0.5 - width / 2)
    from_centre_y = np.arange(height, dtype=np.float32)[rows, None] + np.float32(0.5 - height / 2)
    columns = np.empty((6, *template.shape), dtype=np.float32)
    columns[0], columns[1] = template, 1
    np.multiply(across, from_centre_x * np.float32(matrix[0, 0]), out=columns[2])
    np.multiply(down, from_centre_y * np.float32(matrix[1, 1]), out=columns[3])
    for index, (slope, factor) in enumerate(zip((across, down), reference.factors, strict=True), start=4):
        np.multiply(slope, np.float32(factor), out=columns[index])
    return columns.reshape(6, -1)


def _fit(columns: Plane, target: Plane, *, robust: bool) -> NDArray[np.float64]:
    """Least squares of target ≈ columns: the last four coefficients, limited to a safe step."""
    weights = _weights(columns[:2], target) if robust else None
    change = _solve(columns, target, weights)[2:].astype(np.float64)
    change[:2] = np.clip(change[:2], -0.05, 0.05)
    return change


def _weights(columns: NDArray[np.float32], target: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cauchy weights: small for pixels that brightness and contrast do not explain, scaled by the median residual."""
    residual = target - _solve(columns, target, None) @ columns
    spread = np.float32(max(1.0, 2.0 * 1.4826 * float(np.median(np.abs(residual[::5])))))
    return np.asarray(1 / (1 + np.square(residual / spread)), np.float32)


def _solve(
    columns: NDArray[np.float32], target: NDArray[np.float32], weights: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    weighted = columns if weights is None else columns * weights
    gram = (weighted @ columns.T).astype(np.float64)
    gram += np.diag(np.diag(gram)) * 1e-7  # a blank direction stays where it is
    return np.linalg.solve(gram + 1e-9 * np.eye(len(gram)), weighted @ target).astype(np.float32)


def _crop(subject: Frame, reference: Frame, view: ScaleShift) -> float:
    seen = 1.0
    sides = (
        (subject.width, reference.width, view.step_x, view.x),
        (subject.height, reference.height, view.step_y, view.y),
    )
    for own, whole, step, centre in sides:
        low, high = whole / 2 + centre - own * step / 2, whole / 2 + centre + own * step / 2
        seen *= max(0.0, min(high, whole) - max(low, 0.0)) / whole
    return 1 - seen
