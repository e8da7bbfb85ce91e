"""Bringing a subject and its reference to one size, in a way that has a name.

`strict`: sizes must be equal. `fit`: the subject is resampled to the reference's size. `crop-aware`: scale and shift
are estimated and both are cut to the area they have in common; a small rotation is not, and counts as loss. The choice
is part of every measurement's key.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.images.registration import Registration, register

AlignMode = Literal["strict", "fit", "crop-aware"]

CONFIDENT = 0.55
"""Correlation under which two images count as not registered.

Different photographs stay under 0.2, a photograph and its mirror image under 0.55; a step that adds a large object to a
plain room keeps 0.7.
"""
STILL = 0.25
"""Pixels that a corner may move before images of equal size are resampled: less would only blur them."""
SMALLEST = 16
"""Pixels a side that a common area must have."""


class Aligned(NamedTuple):
    """Two frames of equal size, and what was done to get there."""

    subject: Frame
    reference: Frame
    detail: dict[str, float]


def align(subject: Frame, reference: Frame, mode: AlignMode) -> Aligned:
    """Both at one size, or `Unmeasurable` with status `size`, `unaligned` or `featureless`."""
    if mode == "strict":
        return _strict(subject, reference)
    if mode == "fit":
        return Aligned(fit(subject, reference.size), reference, _ratios(subject, reference))
    return _crop_aware(subject, reference)


def fit(frame: Frame, size: tuple[int, int]) -> Frame:
    """The frame resampled to (width, height) by Lanczos; itself if it has that size."""
    if frame.size == size:
        return frame
    return frame.derived(("fit", size), lambda frame: _resampled(frame, size, None))


def registered(subject: Frame, reference: Frame) -> Registration:
    """Scale and shift of the subject, or `Unmeasurable("unaligned")` if that cannot be trusted."""
    found = register(subject, reference)
    if found.confidence < CONFIDENT:
        raise Unmeasurable(
            "unaligned", f"correlation {found.confidence:.2f} after registration, {CONFIDENT:.2f} needed"
        )
    return found


def _strict(subject: Frame, reference: Frame) -> Aligned:
    if subject.size != reference.size:
        raise Unmeasurable("size", f"{subject.width}×{subject.height} vs {reference.width}×{reference.height}")
    return Aligned(subject, reference, {})


def _ratios(subject: Frame, reference: Frame) -> dict[str, float]:
    return {"ratio_x": reference.width / subject.width, "ratio_y": reference.height / subject.height}


def _crop_aware(subject: Frame, reference: Frame) -> Aligned:
    found = registered(subject, reference)
    detail = {
        "scale_x": found.scale_x,
        "scale_y": found.scale_y,
        "shift_x": found.shift_x,
        "shift_y": found.shift_y,
        "crop": found.crop,
        "confidence": found.confidence,
    }
    if subject.size == reference.size and _corner_motion(found, reference) < STILL:
        return Aligned(subject, reference, detail)
    x = _overlap(subject.width, reference.width, scale=found.scale_x, shift=found.shift_x)
    y = _overlap(subject.height, reference.height, scale=found.scale_y, shift=found.shift_y)
    if min(x.size, y.size) < SMALLEST:
        raise Unmeasurable("unaligned", f"only {x.size}×{y.size} pixels in common")
    return Aligned(_subject_part(subject, x, y), _reference_part(reference, x, y), detail)


def _corner_motion(found: Registration, reference: Frame) -> float:
    across = abs(found.shift_x) + abs(found.scale_x - 1) * reference.width / 2
    down = abs(found.shift_y) + abs(found.scale_y - 1) * reference.height / 2
    return max(across, down)


class _Span(NamedTuple):
    """Whole pixels [start, stop) of the reference, and where they lie in the subject."""

    start: int
    stop: int
    low: float
    high: float

    @property
    def size(self) -> int:
        return self.stop - self.start


def _overlap(own: int, whole: int, *, scale: float, shift: float) -> _Span:
    def to_subject(position: float) -> float:
        return own / 2 + (position + shift - whole / 2) * scale

    def to_reference(position: float) -> float:
        return whole / 2 - shift + (position - own / 2) / scale

    # half a pixel of tolerance, or an estimate 0.01 pixel off would cost a whole row
    start = max(0, ceil(to_reference(0) - 0.5))
    stop = min(whole, floor(to_reference(own) + 0.5))
    return _Span(start, stop, max(0.0, to_subject(start)), min(float(own), to_subject(stop)))


def _subject_part(subject: Frame, x: _Span, y: _Span) -> Frame:
    box = (x.low, y.low, x.high, y.high)
    whole = tuple(round(side) for side in box)
    moved = max(abs(side - near) for side, near in zip(box, whole, strict=True))
    if moved < STILL and (whole[2] - whole[0], whole[3] - whole[1]) == (x.size, y.size):
        left, top, right, bottom = whole
        return Frame(np.ascontiguousarray(subject.pixels[top:bottom, left:right]), subject.id)
    return _resampled(subject, (x.size, y.size), box)


def _reference_part(reference: Frame, x: _Span, y: _Span) -> Frame:
    if (x.start, y.start) == (0, 0) and (x.stop, y.stop) == reference.size:
        return reference

    def cut(frame: Frame) -> Frame:
        return Frame(np.ascontiguousarray(frame.pixels[y.start : y.stop, x.start : x.stop]), frame.id)

    return reference.derived(("part", x[:2], y[:2]), cut)


def _resampled(frame: Frame, size: tuple[int, int], box: tuple[float, float, float, float] | None) -> Frame:
    picture = Image.fromarray(frame.pixels).resize(size, Image.Resampling.LANCZOS, box=box)
    return Frame(np.asarray(picture), frame.id)
