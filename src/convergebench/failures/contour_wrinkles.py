"""Wrinkles along outlines: ripples beside them, parallel to them, or outlines that meander where they ran smoothly.

Where: 32-pixel cells along the source's strongest outlines (a tenth of the picture, at 3 levels a pixel or more), and
of these the ones that are clean in the source. The direction of an outline is the source's, smoothed over 5 pixels.

*Meander*: brightness should not change along an outline. The slope along it over the slope across it, each as a
median over the cell, is the tangent of the angle by which the outline deviates; its growth is the value that three
in ten of the cleaner cells, weighted by contrast, exceed. 0.07 counts: an outline that swings by 4 degrees.
It must also exceed what the source has there. Cells whose outline as a whole turned by over 12 degrees show other
content and are left out.

*Ripples*: in a band of 4 to 12 pixels beside outlines, between wavelengths of about 4 and 12 pixels, squared
slopes across the outline minus squared slopes along it; noise has as much of both. The median over the calmer half of
the cells must grow by 0.1 (waves of just under 1 level) and be a twentieth of all activity in the band.

Uniform noise is measured away from outlines and subtracted. Cannot see: wrinkles longer than about 20 pixels, outlines
that were redrawn elsewhere, pictures without clean outlines (reported as `cannot_tell`). Works at 768 pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.failures._aligned_pair import AlignedPair, Tile, aligned_to_source, reduced
from convergebench.failures._onset import StepScore, find_onset
from convergebench.failures.base import ChainView, Examination, detector
from convergebench.images.frame import Frame, Plane

MEANDER = 0.07
"""Growth of the tangent of an outline's swing that counts; photographs have softer outlines than drawings, which needed
0.085."""
OF_CELLS = 0.3
"""Share of the clean outlines, by contrast, that must swing so far."""
RIPPLE, OF_BAND = 0.1, 0.05
"""Growth of ripples, in levels per pixel squared, that counts, and the share of the band's activity they must be."""
LONGEST, CELL = 768, 32
STRONG, SHARE = 3.0, 0.9
"""Levels per pixel, and the quantile of slopes, that an outline has."""
FEWEST = 6
"""Fewest cells for a measurement."""
IN_CELL, IN_BAND = 40, 160
"""Pixels of an outline, or of the band beside it, that a cell needs."""
CLEANEST, CALMEST = 0.6, 0.5
ONE_WAY = 0.9
"""Coherence of the slopes in a cell: 1 is a straight outline, 0 a heap of grains."""
TURNED = float(np.radians(12))
FADED = 0.25
"""Share of the squared slope across that must be left."""

Cells = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Course:
    """Where the source's outlines run, in cells of pixels."""

    across: tuple[Plane, Plane]
    """Unit vector across the nearest outline, at every pixel."""
    outline: Cells
    band: Cells
    away: Cells
    cells: NDArray[np.intp]
    """Cells with a clean enough outline."""
    beside: NDArray[np.intp]
    far: NDArray[np.intp]


class _Slopes(NamedTuple):
    along: Plane
    across: Plane
    """Per cell of `_Course.cells`, squared, median."""
    even: Plane
    ripple: Plane
    activity: Plane
    turn: Plane


class _Wrinkles(NamedTuple):
    meander: float
    ripple: float
    share: float
    score: float
    cell: int


@detector(
    "contour-wrinkles",
    level="noise",
    title="Contour wrinkles",
    rule=(
        "clean outlines of the source swing by 4 degrees (tangent 0.07) more, or ripples parallel to them grow to just "
        "under 1 level and a twentieth of the activity beside them, for three steps in a row"
    ),
    paper="wrinkles that align with the contours",
    version=2,
)
def contour_wrinkles(chain: ChainView) -> Examination:
    """Outlines that meander, or ripples that run along them."""

    def measure(index: int) -> StepScore | None:
        pair = aligned_to_source(chain, index)
        found = None if pair is None else _wrinkles(pair)
        if pair is None or found is None:
            return None
        small = reduced(pair.source, LONGEST)
        scale, columns = pair.source.width / small.shape[1], small.shape[1] // CELL
        top, left = (CELL * each for each in divmod(found.cell, columns))
        return StepScore(
            found.score,
            {"meander": found.meander, "ripple": found.ripple},
            f"outlines swing by {np.degrees(np.arctan(found.meander)):.0f}° more than in the source, and ripples make "
            f"up {found.share:.0%} of what goes on beside them",
            pair.box(Tile(round(top * scale), round(left * scale), round(CELL * scale)), around=3.0),
        )

    return find_onset(chain, measure)


def _wrinkles(pair: AlignedPair) -> _Wrinkles | None:
    free = None if pair.changed is None else pair.untouched()
    course = _course(pair.source, free) if free is not None else pair.source.derived("course", _course)
    if course is None:
        return None
    before = pair.source.derived("course-slopes", lambda one: _slopes(one, course)) if free is None else None
    before = before or _slopes(pair.source, course)
    after = _slopes(pair.step, course)
    noise = max(0.0, float(np.median(after.even - before.even))) if course.far.size >= 4 else 0.0
    meander, first = _meander(before, after, noise)
    ripple, share, second = _ripple(before, after)
    scores = meander / MEANDER, float(np.sqrt(min(ripple / RIPPLE, share / OF_BAND)))
    places = course.cells[first], course.beside[second] if course.beside.size else course.cells[first]
    return _Wrinkles(meander, ripple, share, max(scores), int(places[int(scores[1] > scores[0])]))


def _meander(before: _Slopes, after: _Slopes, noise: float) -> tuple[float, int]:
    """Growth of the tangent, and the cell (by place) where it is largest."""
    was = before.along / np.maximum(before.across, 1e-6)
    turned = np.abs((after.turn - before.turn + np.pi / 2) % np.pi - np.pi / 2)
    same = (turned < TURNED) & (after.across > FADED * before.across)
    if same.sum() < FEWEST:
        return 0.0, 0
    clean = np.flatnonzero(same & (was <= np.quantile(was[same], CLEANEST)))
    now = np.maximum(0, after.along - noise) / np.maximum(after.across - noise, 1e-6)
    grown = (now - was)[clean]
    order = np.argsort(grown)
    weights = np.cumsum(np.sqrt(before.across[clean])[order])
    height = float(grown[order][np.searchsorted(weights, (1 - OF_CELLS) * weights[-1])])
    if height < float(np.median(was[clean])):
        height = 0.0
    return float(np.sqrt(max(0.0, height))), int(clean[order[-1]])


def _ripple(before: _Slopes, after: _Slopes) -> tuple[float, float, int]:
    """Growth of the ripples, their share of all activity beside outlines, and the cell where they are strongest."""
    if before.ripple.size < FEWEST:
        return 0.0, 0.0, 0
    calm = np.flatnonzero(before.activity <= np.quantile(before.activity, CALMEST))
    grown = (after.ripple - before.ripple)[calm]
    height = max(0.0, float(np.median(grown)))
    share = height / max(1e-6, float(np.median(after.activity[calm])))
    return height, share, int(calm[int(grown.argmax())])


def _grey(frame: Frame) -> Plane:
    return np.asarray(cv2.cvtColor(reduced(frame, LONGEST), cv2.COLOR_RGB2GRAY), np.float32)


def _soft(plane: Plane, sigma: float) -> Plane:
    return np.asarray(cv2.GaussianBlur(plane, (0, 0), sigma), np.float32)


def _slope(plane: Plane) -> tuple[Plane, Plane]:
    across, down = (cv2.Sobel(plane, cv2.CV_32F, *way, scale=1 / 8) for way in ((1, 0), (0, 1)))
    return np.asarray(across, np.float32), np.asarray(down, np.float32)


def _in_cells(plane: NDArray[Any]) -> NDArray[Any]:
    """Cells × pixels; what does not fill a cell is left out."""
    rows, columns = plane.shape[0] // CELL, plane.shape[1] // CELL
    whole = plane[: rows * CELL, : columns * CELL].reshape(rows, CELL, columns, CELL)
    return whole.swapaxes(1, 2).reshape(rows * columns, CELL * CELL)


def _course(source: Frame, free: NDArray[np.bool_] | None = None) -> _Course | None:
    across, down = _slope(_soft(_grey(source), 2.0))
    slope = np.hypot(across, down)
    outline = slope > max(STRONG, float(np.quantile(slope, SHARE)))
    kept = outline.astype(np.float32)
    xx, yy, xy = (_soft(part * kept, 5.0) for part in (across * across, down * down, across * down))
    angle = 0.5 * np.arctan2(2 * xy, xx - yy)
    coherence = np.hypot(xx - yy, 2 * xy) / (xx + yy + 1e-6)
    near, wide = (cv2.dilate(outline.astype(np.uint8), np.ones((side, side), np.uint8)) > 0 for side in (9, 25))
    if free is not None:
        size = outline.shape[1], outline.shape[0]
        touched = cv2.resize(free.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) == 0
        outline, near, wide = outline & ~touched, near | touched, wide | touched
    inside, band, away = (_in_cells(each) for each in (outline, wide & ~near, ~wide))
    counts = inside.sum(axis=1)
    straight = (_in_cells(coherence) * inside).sum(axis=1) / np.maximum(counts, 1)
    cells = np.flatnonzero((counts >= IN_CELL) & (straight > ONE_WAY))
    if cells.size < FEWEST:
        return None
    return _Course(
        (np.cos(angle), np.sin(angle)),
        inside,
        band,
        away,
        cells,
        np.flatnonzero(band.sum(axis=1) >= IN_BAND),
        np.flatnonzero(away.mean(axis=1) > 0.7),
    )


def _slopes(frame: Frame, course: _Course) -> _Slopes:
    grey = _grey(frame)
    fine = _soft(grey, 1.0)
    along, across = (_in_cells(each**2) for each in _turned(_slope(fine), course))
    ripple_along, ripple_across = (_in_cells(each**2) for each in _turned(_slope(fine - _soft(grey, 2.5)), course))
    x, y = _slope(_soft(grey, 3.0))
    xx, yy, xy = ((_in_cells(part) * course.outline)[course.cells].sum(axis=1) for part in (x * x, y * y, x * y))
    count = np.maximum(course.band[course.beside].sum(axis=1), 1)
    low, high = ((part * course.band)[course.beside].sum(axis=1) / count for part in (ripple_along, ripple_across))
    noise = (along[course.far] + across[course.far]) / 2
    even = [np.median(part[away]) for part, away in zip(noise, course.away[course.far], strict=True)]
    return _Slopes(
        np.array([np.median(along[cell][course.outline[cell]]) for cell in course.cells], np.float32),
        np.array([np.median(across[cell][course.outline[cell]]) for cell in course.cells], np.float32),
        np.array(even, np.float32),
        high - low,
        high + low,
        0.5 * np.arctan2(2 * xy, xx - yy),
    )


def _turned(slope: tuple[Plane, Plane], course: _Course) -> tuple[Plane, Plane]:
    """The slope along and across the nearest outline."""
    x, y = slope
    to_x, to_y = course.across
    return y * to_x - x * to_y, x * to_x + y * to_y
