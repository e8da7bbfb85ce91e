"""Natural irregularity: fractal noise that is the same at every resolution, only finer.

A sheet's noise is a stack of random lattices, each stretched over the whole sheet. Lattices finer than the
pixels are left out, so a larger picture shows more detail of the same field and never other detail.
"""

from __future__ import annotations

import cv2
import numpy as np

from convergebench.images.pictures.sheet import Plane, Sheet


def lattice(sheet: Sheet, purpose: str, scale: float, *, stretch: tuple[float, float] = (1.0, 1.0)) -> Plane | None:
    """One octave in −1…1 with `scale` knots per unit, or None where pixels are too coarse for it."""
    columns = max(2, round(2 * sheet.right * scale * stretch[0]))
    rows = max(2, round(2 * sheet.bottom * scale * stretch[1]))
    if columns > sheet.width or rows > sheet.height:
        return None
    knots = sheet.random(f"{purpose}/{scale:.4f}").random((rows, columns), dtype=np.float32) * 2 - 1
    return np.asarray(cv2.resize(knots, (sheet.width, sheet.height), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def fractal(
    sheet: Sheet,
    purpose: str,
    scale: float = 2.0,
    *,
    octaves: int = 6,
    gain: float = 0.5,
    stretch: tuple[float, float] = (1.0, 1.0),
) -> Plane:
    """Clouds, roughly −1…1. `scale`: knots per unit of the coarsest octave; `stretch` multiplies it per axis."""
    total = sheet.plane()
    weight, norm = 1.0, 0.0
    for octave in range(octaves):
        layer = lattice(sheet, f"{purpose}/{octave}", scale * 2.03**octave, stretch=stretch)
        if layer is not None:
            total += layer * np.float32(weight)
        norm += weight * weight
        weight *= gain
    return total / np.float32(1.25 * norm**0.5)


def ridged(sheet: Sheet, purpose: str, scale: float = 2.0, *, octaves: int = 6, gain: float = 0.5) -> Plane:
    """Sharp crests (mountains, bark), roughly 0…1."""
    total = sheet.plane()
    weight, norm = 1.0, 0.0
    for octave in range(octaves):
        layer = lattice(sheet, f"{purpose}/{octave}", scale * 2.03**octave)
        if layer is not None:
            total += np.square(1 - np.abs(layer)) * np.float32(weight)
        norm += weight
        weight *= gain
    return total / np.float32(norm)


def profile(rng: np.random.Generator, positions: Plane, scale: float, *, octaves: int = 6, gain: float = 0.5) -> Plane:
    """A wandering line (ridge, shore), roughly −1…1, over positions in −4…4."""
    total = np.zeros(positions.shape, dtype=np.float64)
    weight, norm = 1.0, 0.0
    for octave in range(octaves):
        count = int(8 * scale * 2**octave) + 4
        knots = rng.random(count) * 2 - 1
        total += weight * _cubic(knots, (positions + 4.0) * scale * 2**octave)
        norm += weight
        weight *= gain
    return (total / norm).astype(np.float32)


def _cubic(knots: Plane, position: Plane) -> Plane:
    """Smooth reading of knots at fractional positions."""
    low = np.clip(np.floor(position).astype(np.int64), 0, len(knots) - 2)
    t = np.clip(position - low, 0.0, 1.0)
    t = t * t * (3 - 2 * t)
    found: Plane = knots[low] * (1 - t) + knots[low + 1] * t
    return found


def soften(plane: Plane, radius: float) -> Plane:
    """Gaussian blur by `radius` pixels (standard deviation), done small where the radius is large."""
    if radius < 0.3:
        return plane
    shrink = int(max(1, radius // 3))
    if shrink == 1:
        return np.asarray(cv2.GaussianBlur(plane, (0, 0), radius), dtype=np.float32)
    height, width = plane.shape[:2]
    small = cv2.resize(plane, (max(2, width // shrink), max(2, height // shrink)), interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), radius / shrink)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def slope(height: Plane, sheet: Sheet) -> tuple[Plane, Plane]:
    """Gradient of a height field per unit, along x and y."""
    along = cv2.Sobel(height, cv2.CV_32F, 1, 0, ksize=3, scale=sheet.unit / 8)
    down = cv2.Sobel(height, cv2.CV_32F, 0, 1, ksize=3, scale=sheet.unit / 8)
    return np.asarray(along, dtype=np.float32), np.asarray(down, dtype=np.float32)


def warp(plane: Plane, sheet: Sheet, across: Plane, down: Plane) -> Plane:
    """The plane read at places moved by (across, down) units."""
    columns = (sheet.x + across + sheet.right) * sheet.unit - 0.5
    rows = (sheet.y + down + sheet.bottom) * sheet.unit - 0.5
    shape = (sheet.height, sheet.width)
    map_x = np.ascontiguousarray(np.broadcast_to(columns, shape), dtype=np.float32)
    map_y = np.ascontiguousarray(np.broadcast_to(rows, shape), dtype=np.float32)
    moved = cv2.remap(plane, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
    return np.asarray(moved, dtype=np.float32)


def cells(sheet: Sheet, purpose: str, count: int) -> tuple[Plane, Plane]:
    """Distance to the nearest of `count` random points (units), and a random 0…1 tone per cell."""
    rng = sheet.random(f"{purpose}/cells")
    places = rng.random((count, 2))
    columns = np.minimum((places[:, 0] * sheet.width).astype(int), sheet.width - 1)
    rows = np.minimum((places[:, 1] * sheet.height).astype(int), sheet.height - 1)
    seeds = np.full((sheet.height, sheet.width), 255, dtype=np.uint8)
    seeds[rows, columns] = 0
    distance, labels = cv2.distanceTransformWithLabels(seeds, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    tone = np.zeros(int(labels.max()) + 1, dtype=np.float32)
    tone[labels[rows, columns]] = rng.random(count).astype(np.float32)
    return distance * np.float32(sheet.pixel), tone[labels]
