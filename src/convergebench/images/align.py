"""Bring a subject and its reference to one size, by a named method.

`auto`: images of equal size are compared as they are; where sizes differ, scale and shift are estimated and both are
cut to the area they have in common; where no estimate is reliable the subject is resampled, so that damage is measured
and not missing. `strict`: sizes must be equal. `fit`: the subject is resampled to the reference's size.
`crop-aware`: scale and shift are estimated whatever the sizes; a small rotation is not, and counts as loss. The choice
is part of every measurement's key.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from PIL import Image

from convergebench.errors import Unmeasurable
from convergebench.images._overlap import Overlap, estimated_overlap, plain_crop
from convergebench.images.frame import Frame
from convergebench.images.registration import Registration, register

AlignMode = Literal["auto", "strict", "fit", "crop-aware"]
Done = Literal["as-is", "registered", "resampled"]
"""What was done to a pair: nothing, both cut to the common area, or the subject resized."""
DEFAULT: AlignMode = "auto"

CONFIDENT = 0.55
"""Correlation under which two images count as not registered.

Different photographs stay under 0.2, a photograph and its mirror image under 0.55; a step that adds a large object to a
plain room keeps 0.7.
"""
UNMOVED = 0.25
"""Pixels that a corner may move without images of equal size being resampled, which would only blur them."""
SMALLEST = 16
"""Smallest side of a common area, in pixels."""
IN_COMMON = 0.25
"""Share of the reference that must be in view for `auto` to compare the common area alone.

A chain of 20 steps that loses 8 of 512 pixels along both sides keeps 0.47. An editor that returns one well-kept corner
must not be measured by that corner.
"""


class Aligned(NamedTuple):
    """Two frames of equal size, and what was done to get there."""

    subject: Frame
    reference: Frame
    detail: dict[str, float]
    done: Done = "as-is"

    def describe(self) -> str:
        """What was done, in one line for the measurement's row; empty if nothing was."""
        if self.done == "as-is":
            return ""
        numbers = ", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in self.detail.items())
        return f"{self.done}: {numbers}"


def align(subject: Frame, reference: Frame, mode: AlignMode) -> Aligned:
    """Both images at one size; raises `Unmeasurable` (`size`, `unaligned` or `featureless`), except in mode `auto`."""
    if mode == "auto":
        return _auto(subject, reference)
    if mode == "strict":
        return _strict(subject, reference)
    if mode == "fit":
        return _fitted(subject, reference)
    return _crop_aware(subject, reference)


def fit(frame: Frame, size: tuple[int, int]) -> Frame:
    """The frame resampled to (width, height) by Lanczos; itself if it has that size."""
    if frame.size == size:
        return frame
    return frame.derived(("fit", size), lambda frame: _resampled(frame, size, None))


def registered(subject: Frame, reference: Frame) -> Registration:
    """Scale and shift of the subject; raises `Unmeasurable("unaligned")` if the estimate is not reliable."""
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


def _auto(subject: Frame, reference: Frame) -> Aligned:
    if subject.size == reference.size:
        return Aligned(subject, reference, {})
    try:
        found = registered(subject, reference)
    except Unmeasurable:
        return _fitted(subject, reference)
    area = plain_crop(subject, reference, found)
    if area is None:
        area = estimated_overlap(subject, reference, found)
    else:
        found = area.as_registration(subject, reference, found)
    shared = area.x.size * area.y.size / (reference.width * reference.height)
    if area.shorter_side < SMALLEST or shared < IN_COMMON:
        return _fitted(subject, reference)
    return _cut(subject, reference, area, found)


def _fitted(subject: Frame, reference: Frame) -> Aligned:
    ratios = {"ratio_x": reference.width / subject.width, "ratio_y": reference.height / subject.height}
    resized = subject.size != reference.size
    return Aligned(fit(subject, reference.size), reference, ratios, "resampled" if resized else "as-is")


def _crop_aware(subject: Frame, reference: Frame) -> Aligned:
    found = registered(subject, reference)
    if subject.size == reference.size and _corner_motion(found, reference) < UNMOVED:
        return Aligned(subject, reference, _facts(found))
    area = estimated_overlap(subject, reference, found)
    if area.shorter_side < SMALLEST:
        raise Unmeasurable("unaligned", f"only {area.x.size}×{area.y.size} pixels in common")
    return _cut(subject, reference, area, found)


def _cut(subject: Frame, reference: Frame, area: Overlap, found: Registration) -> Aligned:
    return Aligned(_subject_part(subject, area), _reference_part(reference, area), _facts(found), "registered")


def _facts(found: Registration) -> dict[str, float]:
    return {
        "scale_x": found.scale_x,
        "scale_y": found.scale_y,
        "shift_x": found.shift_x,
        "shift_y": found.shift_y,
        "crop": found.crop,
        "confidence": found.confidence,
    }


def _corner_motion(found: Registration, reference: Frame) -> float:
    across = abs(found.shift_x) + abs(found.scale_x - 1) * reference.width / 2
    down = abs(found.shift_y) + abs(found.scale_y - 1) * reference.height / 2
    return max(across, down)


def _subject_part(subject: Frame, area: Overlap) -> Frame:
    x, y = area
    box = (x.low, y.low, x.high, y.high)
    whole = tuple(round(side) for side in box)
    off_grid = max(abs(side - near) for side, near in zip(box, whole, strict=True))
    if off_grid < UNMOVED and (whole[2] - whole[0], whole[3] - whole[1]) == (x.size, y.size):
        left, top, right, bottom = whole
        return Frame(np.ascontiguousarray(subject.pixels[top:bottom, left:right]), subject.id)
    return _resampled(subject, (x.size, y.size), box)


def _reference_part(reference: Frame, area: Overlap) -> Frame:
    x, y = area
    if (x.start, y.start) == (0, 0) and (x.stop, y.stop) == reference.size:
        return reference

    def cut(frame: Frame) -> Frame:
        return Frame(np.ascontiguousarray(frame.pixels[y.start : y.stop, x.start : x.stop]), frame.id)

    return reference.derived(("part", x[:2], y[:2]), cut)


def _resampled(frame: Frame, size: tuple[int, int], box: tuple[float, float, float, float] | None) -> Frame:
    picture = Image.fromarray(frame.pixels).resize(size, Image.Resampling.LANCZOS, box=box)
    return Frame(np.asarray(picture), frame.id)
