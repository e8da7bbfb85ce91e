"""The area that two registered images have in common: as estimated, or in whole pixels if one was cut from the other.

An estimate from small versions is accurate to a fraction of a pixel, in heavily worn pictures to a pixel or two. Where
a whole-pixel crop correlates just as well, it is used instead: a crop keeps noise and sharpness, which resampling would
smooth.
"""

from __future__ import annotations

from itertools import product
from math import ceil, floor
from typing import NamedTuple

import cv2
import numpy as np

from convergebench.images.frame import Frame, Plane
from convergebench.images.registration import Registration

PLAUSIBLE = 3.0
"""Largest distance, in pixels, of the estimated edges from those of a crop for the crop to be tried."""
SOFT = 2.0
"""Standard deviation of the blur applied before crop and estimate are compared, so that smoothing is not rewarded."""
TOLERANCE = 2e-4
"""Largest correlation that a crop may lose against the estimate."""


class Span(NamedTuple):
    """Whole pixels [start, stop) of the reference, and their position in the subject."""

    start: int
    stop: int
    low: float
    high: float

    @property
    def size(self) -> int:
        """Pixels of the reference."""
        return self.stop - self.start

    @property
    def inside(self) -> slice:
        """The same pixels in a subject at the reference's scale."""
        return slice(round(self.low), round(self.high))


class Overlap(NamedTuple):
    """The common area along both axes."""

    x: Span
    y: Span

    def as_registration(self, subject: Frame, reference: Frame, found: Registration) -> Registration:
        """The registration with the exact scale and shift of this crop in place of the estimates."""
        left, top = self.x.start - self.x.low, self.y.start - self.y.low
        return found._replace(
            scale_x=1.0,
            scale_y=1.0,
            shift_x=(reference.width - subject.width) / 2 - left,
            shift_y=(reference.height - subject.height) / 2 - top,
            crop=1 - self.x.size * self.y.size / (reference.width * reference.height),
        )

    @property
    def shorter_side(self) -> int:
        """Pixels of the shorter side."""
        return min(self.x.size, self.y.size)


def estimated_overlap(subject: Frame, reference: Frame, found: Registration) -> Overlap:
    """The common area by the estimated scale and shift."""
    return Overlap(
        _span(subject.width, reference.width, scale=found.scale_x, shift=found.shift_x),
        _span(subject.height, reference.height, scale=found.scale_y, shift=found.shift_y),
    )


def plain_crop(subject: Frame, reference: Frame, found: Registration) -> Overlap | None:
    """The best whole-pixel crop (or border) near the estimate, if it correlates as well as the estimate."""
    axes = (
        _starts(subject.width, reference.width, scale=found.scale_x, shift=found.shift_x),
        _starts(subject.height, reference.height, scale=found.scale_y, shift=found.shift_y),
    )
    crops = [
        Overlap(_cut(subject.width, reference.width, left), _cut(subject.height, reference.height, top))
        for left, top in product(*axes)
    ]
    crops = [one for one in crops if one.shorter_side > 1]
    if not crops:
        return None
    own, whole = (frame.derived("soft-grey", _soft) for frame in (subject, reference))
    correlation, best = max((_correlation(own[one.y.inside, one.x.inside], _part(whole, one)), one) for one in crops)
    return best if correlation >= _correlation(*_as_estimated(own, whole, found)) - TOLERANCE else None


def _span(own: int, whole: int, *, scale: float, shift: float) -> Span:
    def to_subject(position: float) -> float:
        return own / 2 + (position + shift - whole / 2) * scale

    def to_reference(position: float) -> float:
        return whole / 2 - shift + (position - own / 2) / scale

    # half a pixel of tolerance, else an error of 0.01 pixel would cost a whole row
    start = max(0, ceil(to_reference(0) - 0.5))
    stop = min(whole, floor(to_reference(own) + 0.5))
    return Span(start, stop, max(0.0, to_subject(start)), min(float(own), to_subject(stop)))


def _starts(own: int, whole: int, *, scale: float, shift: float) -> list[int]:
    """Candidate positions of the subject in the reference at scale 1; none if the estimated edges do not fit."""
    centre, half = whole / 2 - shift, own / 2 / scale
    start = round(centre - own / 2)
    if max(abs(centre - half - start), abs(centre + half - start - own)) > PLAUSIBLE:
        return []
    return [start - 1, start, start + 1]


def _cut(own: int, whole: int, start: int) -> Span:
    low, high = max(0, start), min(whole, start + own)
    return Span(low, high, float(low - start), float(high - start))


def _soft(frame: Frame) -> Plane:
    grey = cv2.cvtColor(frame.pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return np.asarray(cv2.GaussianBlur(grey, (0, 0), SOFT), np.float32)


def _part(whole: Plane, area: Overlap) -> Plane:
    return whole[area.y.start : area.y.stop, area.x.start : area.x.stop]


def _as_estimated(own: Plane, whole: Plane, found: Registration) -> tuple[Plane, Plane]:
    """Subject and reference on the reference's grid, cut to the estimated common area."""
    (height, width), (own_height, own_width) = whole.shape, own.shape
    x, y = (
        _span(own_width, width, scale=found.scale_x, shift=found.shift_x),
        _span(own_height, height, scale=found.scale_y, shift=found.shift_y),
    )
    matrix = np.array(
        [
            [found.scale_x, 0, own_width / 2 + (found.shift_x - width / 2) * found.scale_x + (found.scale_x - 1) / 2],
            [0, found.scale_y, own_height / 2 + (found.shift_y - height / 2) * found.scale_y + (found.scale_y - 1) / 2],
        ]
    )
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    warped = cv2.warpAffine(own, matrix, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    area = Overlap(x, y)
    return _part(np.asarray(warped, np.float32), area), _part(whole, area)


def _correlation(one: Plane, other: Plane) -> float:
    x, y = one - one.mean(), other - other.mean()
    return float(np.vdot(x, y)) / max(float(np.sqrt(np.vdot(x, x) * np.vdot(y, y))), 1e-9)
