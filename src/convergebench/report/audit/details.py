"""One place in two pictures of a chain, where they differ most, or nothing.

An editor may crop, zoom or shift, so the later picture is laid over the earlier one by scale and shift before both are
cut. Some editors move parts of a picture against each other, which no scale and shift can undo; so where anything had
to be moved, the spot itself must agree as well. Two places that are not the same would prove nothing side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from convergebench.errors import ConvergeBenchError, Unmeasurable
from convergebench.images.align import align
from convergebench.images.decode import decode
from convergebench.images.frame import Frame, Pixels, Plane

DETAIL = 4
"""The detail is this part of the shorter side, but no smaller than so many pixels."""
SMALLEST_DETAIL = 96
SHOWN_DETAIL = 360
QUALITY = 97
"""Of the file: a detail is there to show damage, and a codec would smooth it away."""
AT_REST = 0.80
"""Correlation from which on pictures that need no moving count as lying on one another."""
AGREES, ASTRAY = 0.50, 0.03
"""Correlation of the spot in both, and how far off, in parts of its side, it may fit better."""
TRIED = 24
"""Squares that are looked at, the most different first."""


def details(base: Path, late: Path) -> tuple[bytes, bytes] | None:
    """The same square of both, enlarged by whole pixels; None where no place is known to be the same."""
    earlier, later = _read(base), _read(late)
    if earlier is None or later is None:
        return None
    try:
        aligned = align(later, earlier, "crop-aware")
    except Unmeasurable:
        return None
    at_rest = aligned.subject is later and aligned.detail["confidence"] >= AT_REST
    first, second = aligned.reference.pixels, aligned.subject.pixels
    shorter = min(first.shape[:2])
    side = min(shorter, max(SMALLEST_DETAIL, shorter // DETAIL))
    for top, left in _most_different(first, second, side):
        crops = [picture[top : top + side, left : left + side] for picture in (first, second)]
        if at_rest or _same_place(crops[0], crops[1]):
            return _enlarged(crops[0]), _enlarged(crops[1])
    return None


def _most_different(first: Pixels, second: Pixels, side: int) -> Iterator[tuple[int, int]]:
    """Top and left of squares, the most different first; each lies apart from those before it."""
    apart = cv2.absdiff(first, second).mean(axis=2).astype(np.float32)
    total = cv2.boxFilter(apart, -1, (side, side), anchor=(0, 0), borderType=cv2.BORDER_ISOLATED)
    inside = np.ascontiguousarray(total[: first.shape[0] - side + 1, : first.shape[1] - side + 1])
    for _ in range(TRIED):
        top, left = (int(each) for each in np.unravel_index(int(inside.argmax()), inside.shape))
        if inside[top, left] < 0:
            return
        yield top, left
        near = side // 2
        inside[max(0, top - near) : top + near + 1, max(0, left - near) : left + near + 1] = -1


def _same_place(one: Pixels, other: Pixels) -> bool:
    """Whether the middle of one lies in the middle of the other: it agrees there, and hardly better elsewhere."""
    side = one.shape[0]
    margin = side // 5
    plain, searched = _soft(one)[margin:-margin, margin:-margin], _soft(other)
    if float(plain.std()) < 1 or float(searched.std()) < 1:
        return False
    found = cv2.matchTemplate(searched, plain, cv2.TM_CCOEFF_NORMED)
    best = np.array(np.unravel_index(int(found.argmax()), found.shape))
    return bool(found[margin, margin] >= AGREES and np.abs(best - margin).max() <= max(2.0, ASTRAY * side))


def _soft(crop: Pixels) -> Plane:
    """Grey and smoothed: where things are, without the fine damage."""
    grey = cv2.cvtColor(crop, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return np.asarray(cv2.GaussianBlur(grey, (0, 0), crop.shape[0] / 40), np.float32)


def _read(path: Path) -> Frame | None:
    """The picture as it is measured; None if it cannot be read."""
    try:
        return decode(path.read_bytes(), alpha="white")
    except ConvergeBenchError:
        return None


def _enlarged(crop: Pixels) -> bytes:
    factor = max(1, round(SHOWN_DETAIL / crop.shape[0]))
    size = (crop.shape[1] * factor, crop.shape[0] * factor)
    large = cv2.resize(crop[..., ::-1], size, interpolation=cv2.INTER_NEAREST)  # OpenCV writes blue first
    return cv2.imencode(".webp", large, [cv2.IMWRITE_WEBP_QUALITY, QUALITY])[1].tobytes()
