"""Crops of the same place in two pictures of a chain, where they differ most.

An editor may crop, zoom or shift, so the later picture is registered to the earlier one by scale and shift before both
are cropped. Some editors move parts of a picture against each other, which no scale and shift can undo; so where
registration moved anything, the crops themselves must match as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np

from convergebench.errors import ConvergeBenchError, Unmeasurable
from convergebench.images.align import align
from convergebench.images.decode import decode
from convergebench.images.frame import Frame, Pixels, Plane

DETAIL = 4
"""A detail is the shorter side divided by this, at least `SMALLEST_DETAIL` pixels."""
SMALLEST_DETAIL = 96
SHOWN_DETAIL = 360
QUALITY = 97
"""Of the WebP file: a detail shows damage, which a codec would smooth away."""
UNMOVED = 0.80
"""Correlation from which pictures that were not moved count as registered."""
LEAST_CORRELATION, MOST_OFFSET = 0.50, 0.03
"""Correlation of two crops of the same place, and the offset of the best match as a share of the side."""
TRIED = 24
"""Squares to try, the most different first."""


def details(base: bytes | None, late: bytes | None) -> tuple[bytes, bytes] | None:
    """The same square of both, enlarged by whole pixels; None where no square is known to match."""
    earlier, later = _read(base), _read(late)
    if earlier is None or later is None:
        return None
    try:
        aligned = align(later, earlier, "crop-aware")
    except Unmeasurable:
        return None
    unmoved = aligned.subject is later and aligned.detail["confidence"] >= UNMOVED
    first, second = aligned.reference.pixels, aligned.subject.pixels
    shorter = min(first.shape[:2])
    side = min(shorter, max(SMALLEST_DETAIL, shorter // DETAIL))
    for top, left in _most_different(first, second, side):
        crops = [picture[top : top + side, left : left + side] for picture in (first, second)]
        if unmoved or _same_place(crops[0], crops[1]):
            return _enlarged(crops[0]), _enlarged(crops[1])
    return None


def _most_different(first: Pixels, second: Pixels, side: int) -> Iterator[tuple[int, int]]:
    """Top and left of squares, the most different first; each at a distance from those before it."""
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
    """Whether the middle of one matches the middle of the other, and hardly better any other part of it."""
    side = one.shape[0]
    margin = side // 5
    plain, searched = _smoothed_grey(one)[margin:-margin, margin:-margin], _smoothed_grey(other)
    if float(plain.std()) < 1 or float(searched.std()) < 1:
        return False
    found = cv2.matchTemplate(searched, plain, cv2.TM_CCOEFF_NORMED)
    offset = np.abs(np.array(np.unravel_index(int(found.argmax()), found.shape)) - margin).max()
    return bool(found[margin, margin] >= LEAST_CORRELATION and offset <= max(2.0, MOST_OFFSET * side))


def _smoothed_grey(crop: Pixels) -> Plane:
    """The crop in grey and blurred, so that fine damage does not affect the match."""
    grey = cv2.cvtColor(crop, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return np.asarray(cv2.GaussianBlur(grey, (0, 0), crop.shape[0] / 40), np.float32)


def _read(data: bytes | None) -> Frame | None:
    """The decoded picture; None if it cannot be read."""
    try:
        return None if data is None else decode(data, alpha="white")
    except ConvergeBenchError:
        return None


def _enlarged(crop: Pixels) -> bytes:
    factor = max(1, round(SHOWN_DETAIL / crop.shape[0]))
    size = (crop.shape[1] * factor, crop.shape[0] * factor)
    large = cv2.resize(crop[..., ::-1], size, interpolation=cv2.INTER_NEAREST)  # OpenCV writes blue first
    return cv2.imencode(".webp", large, [cv2.IMWRITE_WEBP_QUALITY, QUALITY])[1].tobytes()
